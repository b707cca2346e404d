import { describe, expect, test } from 'vitest';
import type { CoinResponse } from '../../../schemas/responses/coin/coin.ts';
import { isoMillis, isoTime } from '../../../schemas/units.ts';
import { NOW } from '../support/api.ts';
import { key, mintRow, policyRow, TIME } from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('policies', [policyRow('coin', 'usd')]);
});
const ASOF = isoTime(TIME);
const mint = key('coin');
const coin = async () => (await held.api.get<CoinResponse>(`/coins/${mint}`)).body;
const price = (change: object = {}) => ({
  mint: key('usd'),
  source: 'catalogue',
  read_at: String(NOW - 1000),
  usd: '2.5',
  observed_at: isoMillis(NOW - 60_000),
  ...change,
});
const pair = (change: object = {}) => ({
  mint: key('usd'),
  symbol: 'USDX',
  name: 'A dollar',
  decimals: 6,
  category: 'currency',
  launchable: 1,
  launchpad_ready: 1,
  logo_url: 'https://x/logo.png',
  ...change,
});

describe('names and images', () => {
  test('name, symbol, image and URI are null for a mint without metadata', async () => {
    await held.api.insert('mints', [mintRow('coin', 6)]);
    const none = { name: null, symbol: null, imageUrl: null, metadataUri: null, metadataAsOf: null };
    expect(await coin()).toMatchObject({ ...none, imageReason: 'the mint has no metadata' });
  });

  test('name and URI come from the metadata of the launched mint, the image from its document', async () => {
    await held.api.insert('mints', [mintRow('coin', 6, { name: 'Coin', symbol: 'C', uri: 'https://m/1' })]);
    await held.api.insert('metadata_documents', [
      { mint, read_at: '1', uri: 'https://m/1', image_url: 'https://m/i.png', error: null },
    ]);
    expect(await coin()).toMatchObject({
      name: 'Coin',
      symbol: 'C',
      imageUrl: 'https://m/i.png',
      metadataUri: 'https://m/1',
      metadataAsOf: ASOF,
    });
  });

  test('the reason why a document was not read is served, also beside an image known from before', async () => {
    await held.api.insert('mints', [mintRow('coin', 6, { name: 'Coin', symbol: 'C', uri: 'https://m/1' })]);
    const served = async () => {
      const { imageUrl, imageReason } = await coin();
      return { imageUrl, imageReason };
    };
    const reading = { mint, read_at: '1', uri: 'https://m/1', image_url: null, error: 'timed out' };
    expect(await served()).toEqual({ imageUrl: null, imageReason: 'the metadata document is not read yet' });
    await held.api.insert('metadata_documents', [reading]);
    expect(await served()).toEqual({ imageUrl: null, imageReason: 'timed out' });
    const image_url = 'https://m/i.png';
    await held.api.insert('metadata_documents', [
      { ...reading, read_at: '2', image_url, error: 'answered 502' },
    ]);
    expect(await served()).toEqual({ imageUrl: image_url, imageReason: 'answered 502' });
    await held.api.insert('metadata_documents', [{ ...reading, read_at: '3', image_url, error: null }]);
    expect(await served()).toEqual({ imageUrl: image_url });
  });

  test('the image of an older document is not served for a new uri', async () => {
    await held.api.insert('mints', [mintRow('coin', 6, { name: 'Coin', symbol: 'C', uri: 'https://m/2' })]);
    await held.api.insert('metadata_documents', [
      { mint, read_at: '1', uri: 'https://m/1', image_url: 'https://m/i.png', error: null },
    ]);
    expect((await coin()).imageUrl).toBeNull();
  });

  test('an account that the metadata pointer names is used only if it names the mint in turn', async () => {
    const pointed = {
      ...mintRow('coin', 6),
      address: key('elsewhere'),
      name: 'Far',
      symbol: 'F',
      uri: 'https://m/f',
    };
    const {
      token_program: _,
      decimals: __,
      supply: ___,
      metadata_pointer: ____,
      ...account
    } = pointed as Record<string, unknown>;
    await held.api.insert('mints', [mintRow('coin', 6, { metadata_pointer: key('elsewhere') })]);
    await held.api.insert('metadata_accounts', [{ ...account, mint: key('another') }]);
    expect((await coin()).name).toBeNull();
    await held.api.insert('metadata_accounts', [{ ...account, mint, version: String(1n << 80n) }]);
    expect(await coin()).toMatchObject({ name: 'Far', metadataUri: 'https://m/f' });
  });
});

describe('the quote asset', () => {
  test('is named by the catalogue where that lists it, else by its own metadata', async () => {
    await held.api.insert('mints', [mintRow('usd', 6, { name: 'Own', symbol: 'OWN', uri: '' })]);
    expect((await coin()).quote).toMatchObject({
      symbol: 'OWN',
      name: 'Own',
      symbolSource: 'chain:quote mint Token-2022 metadata',
      iconUrl: null,
      iconSource: null,
      decimals: 6,
    });
    await held.api.insert('catalogue', [{ read_at: '1', rows: [pair()] }]);
    expect((await coin()).quote).toMatchObject({
      symbol: 'USDX',
      name: 'A dollar',
      symbolSource: 'launch_x:/pairs catalogue',
      iconUrl: 'https://x/logo.png',
      iconSource: 'launch_x:/pairs catalogue',
    });
    // The catalogue lists some assets before they have a name.
    await held.api.insert('catalogue', [{ read_at: '2', rows: [pair({ name: '' })] }]);
    expect((await coin()).quote).toMatchObject({ symbol: 'USDX', name: null });
  });

  test('has the icon of its metadata document where the catalogue has none', async () => {
    const uri = 'https://m/usd';
    await held.api.insert('mints', [mintRow('usd', 6, { name: 'Own', symbol: 'OWN', uri })]);
    await held.api.insert('metadata_documents', [
      { mint: key('usd'), read_at: '1', uri, image_url: 'https://m/usd.png', error: null },
    ]);
    // The chain only has the URI of the document.
    const iconSource = 'metadata document:image of the quote mint';
    const own = { iconUrl: 'https://m/usd.png', iconSource };
    expect((await coin()).quote).toMatchObject(own);
    await held.api.insert('catalogue', [{ read_at: '1', rows: [pair({ logo_url: null })] }]);
    expect((await coin()).quote).toMatchObject({ symbol: 'USDX', ...own });
  });

  test('is served with its first fields in a fixed order', async () => {
    await held.api.insert('mints', [mintRow('usd', 6, { name: 'Own', symbol: 'OWN', uri: '' })]);
    expect(Object.keys((await coin()).quote).slice(0, 8)).toEqual([
      ...['symbol', 'name', 'decimals', 'symbolSource', 'iconUrl', 'iconSource'],
      ...['priceUsd', 'priceObservedAt'],
    ]);
  });

  test('the reason for a missing symbol names both sources, and whether each was read yet', async () => {
    const { quote } = await coin();
    expect(quote).toMatchObject({ symbol: null, name: null, symbolSource: null });
    const reason = async () => (await coin()).quote.symbolAbsentReason;
    expect(await reason()).toBe(
      'the launch_x:/pairs catalogue was not read yet; chain:quote mint Token-2022 metadata was not read yet',
    );
    await held.api.insert('mints', [mintRow('usd', 6)]);
    expect(await reason()).toBe(
      'the launch_x:/pairs catalogue was not read yet; no symbol in chain:quote mint Token-2022 metadata',
    );
    await held.api.insert('catalogue', [{ read_at: '1', rows: [] }]);
    expect(await reason()).toBe(
      'no symbol in the launch_x:/pairs catalogue, none in chain:quote mint Token-2022 metadata',
    );
  });

  test('the reason for a missing symbol says that the metadata of the mint was not read yet', async () => {
    await held.api.insert('catalogue', [{ read_at: '1', rows: [pair({ symbol: '' })] }]);
    expect((await coin()).quote.symbolAbsentReason).toBe(
      'no symbol in the launch_x:/pairs catalogue; chain:quote mint Token-2022 metadata was not read yet',
    );
  });

  test('is priced by the catalogue, and by the second source where the catalogue has no price', async () => {
    await held.api.insert('prices', [price(), price({ source: 'second', usd: '2.4', observed_at: null })]);
    expect((await coin()).quote).toMatchObject({
      ...{ priceUsd: '2.5', priceObservedAt: isoMillis(NOW - 60_000) },
      priceSource: 'launch_x:/launchlab/pricing',
    });
    await held.api.insert('prices', [price({ usd: null, read_at: String(NOW) })]);
    expect((await coin()).quote).toMatchObject({
      ...{ priceUsd: '2.4', priceObservedAt: isoMillis(NOW - 1000) },
      priceSource: 'PRICE_URL:/mint/price, which gives no time: that of our reading',
    });
  });

  test('is priced by the second source once the catalogue price is older than 15 minutes', async () => {
    await held.api.insert('prices', [
      price({ observed_at: isoMillis(NOW - 900_000) }),
      price({ source: 'second', usd: '2.4', observed_at: null }),
    ]);
    expect((await coin()).quote).toMatchObject({
      priceUsd: '2.5',
      priceSource: 'launch_x:/launchlab/pricing',
    });
    held.api.at(NOW + 1);
    const { quote } = await coin();
    expect(quote).toMatchObject({
      ...{ priceUsd: '2.4', priceObservedAt: isoMillis(NOW - 1000) },
      priceSource: 'PRICE_URL:/mint/price, which gives no time: that of our reading',
    });
    expect(quote.priceAbsentReason).toBeUndefined();
  });

  test.each([
    ['1e-7', '0.0000001'],
    ['1.25e-8', '0.0000000125'],
    ['1e+21', '1000000000000000000000'],
    ['182.44051', '182.44051'],
    ['0182.50', '182.5'],
    ['1.0', '1'],
  ])('a source price of %s is served as %s, in the shortest plain decimal notation', async (usd, served) => {
    await held.api.insert('prices', [price({ usd })]);
    expect((await coin()).quote.priceUsd).toBe(served);
  });

  test('the reason for a missing price distinguishes a source not read from one without a price', async () => {
    expect((await coin()).quote.priceAbsentReason).toBe(
      "the launch catalogue's price was not read; the second price source's price was not read",
    );
    await held.api.insert('prices', [price({ source: 'second', usd: null, observed_at: null })]);
    expect((await coin()).quote.priceAbsentReason).toBe(
      "the launch catalogue's price was not read; the second price source has no price",
    );
  });

  test('a catalogue price without a time is not served, as its age is unknown', async () => {
    await held.api.insert('prices', [price({ observed_at: null })]);
    const { quote } = await coin();
    expect(quote).toMatchObject({ priceUsd: null, priceObservedAt: null });
    expect(quote.priceAbsentReason).toBe(
      "the launch catalogue told no time of its price; the second price source's price was not read",
    );
    await held.api.insert('prices', [price({ source: 'second', usd: '2.4', observed_at: null })]);
    expect((await coin()).quote).toMatchObject({ priceUsd: '2.4', priceObservedAt: isoMillis(NOW - 1000) });
  });

  test('a price that is 15 minutes old is served, an older one is null with that as the reason', async () => {
    await held.api.insert('prices', [price({ observed_at: isoMillis(NOW - 900_000) })]);
    expect((await coin()).quote.priceUsd).toBe('2.5');
    held.api.at(NOW + 1);
    const { quote } = await coin();
    expect(quote).toMatchObject({ priceUsd: null, priceObservedAt: null });
    expect(quote.priceAbsentReason).toContain('older than 15 minutes');
  });
});
