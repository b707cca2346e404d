import { createSocket } from 'node:dgram';
import { lookup as dnsLookup } from 'node:dns/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { metadataUris, quoteMints, remoteAccounts } from '../../../clickhouse/queries/states/poll-targets.ts';
import { readingRow } from '../../../ingest/materialise/rows/reading.ts';
import { documentsRound } from '../../../ingest/poll/documents.ts';
import { programsRound } from '../../../ingest/poll/launch-programs.ts';
import { runPollers } from '../../../ingest/poll/pollers.ts';
import {
  catalogueRound,
  listedPricesRound,
  secondPricesRound,
  usedPricesRound,
} from '../../../ingest/poll/prices.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { configRow, key, LAUNCHPAD, mintRow, policyRow, venueAccountRow } from '../../api/support/rows.ts';
import { type AnsweringServer, serveAnswers } from '../../support/answering.ts';
import { PATIENCE_MS } from '../../support/awaited.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { captureLog, pollOptions } from './support/capture.ts';

let store: Store;
let server: AnsweringServer;
let catalogue: unknown[] = [];
let documentHits = 0;

beforeAll(async () => {
  store = await embeddedDatabase('several');
  server = await serveAnswers(({ path, query }) => {
    if (path === '/pairs') return { body: { data: { pairs: catalogue } } };
    if (path === '/launchlab/pricing') {
      const mint = query.get('quoteMint');
      if (mint === key('unlisted')) return { status: 404, body: { error: { code: 'not_found' } } };
      return { body: { data: { prices: { quoteUsd: 2.5, observedAt: '2026-11-01T00:00:00Z' } } } };
    }
    if (path === '/mint/price') {
      const mints = (query.get('mints') ?? '').split(',');
      return {
        body: { id: 'x', success: true, data: Object.fromEntries(mints.map((mint) => [mint, '3.10'])) },
      };
    }
    documentHits += 1;
    return path === '/gone.json' ? { status: 404 } : { body: { image: 'https://images.example/a.png' } };
  });
});
beforeEach(async () => {
  const tables = [
    'policies',
    'venue_accounts',
    'mints',
    'metadata_accounts',
    'metadata_documents',
    'protocol_config',
  ];
  for (const table of [...tables, 'catalogue']) await store.command(`TRUNCATE TABLE ${table}`);
  documentHits = 0;
});
afterAll(async () => {
  await server.close();
  await store.close();
});

const pair = (mint: string, more: object = {}) => ({
  mint: key(mint),
  symbol: mint.toUpperCase(),
  name: mint,
  decimals: 6,
  category: 'custom',
  launchable: true,
  launchLabReady: true,
  logoUrl: '/logo.png',
  ...more,
});

/** One turn of a round, with what it left in the log. */
async function turn(make: typeof usedPricesRound, env: Record<string, string>, more: { rpc?: Rpc } = {}) {
  const log = captureLog();
  await make(pollOptions(env, { store, log, ...more }))((records) => log.append(records));
  return log;
}

async function keep(log: ReturnType<typeof captureLog>): Promise<void> {
  for (const record of log.records) {
    if (record.kind !== 'reading') continue;
    const { table, row } = readingRow(record);
    await store.insert(table, [row]);
  }
}

const other = venueAccountRow('other', 'a', { remote_account: '11'.repeat(32), remote_asof: 1 });

const placeOf = ({ address, policy }: Record<string, unknown>) => ({ address, policy });

test('the accounts to read are the Remote ones that exist and are not revoked', async () => {
  await store.insert('venue_accounts', [
    venueAccountRow('coin', 'a'),
    // Another policy's venue account of the same token account.
    other,
    venueAccountRow('coin', 'b', { revoked: 1 }),
    venueAccountRow('coin', 'c', { kind: 'Local' }),
    venueAccountRow('coin', 'd', { exists: 0 }),
  ]);
  const accounts = await remoteAccounts(store);
  expect(accounts.toSorted((one, another) => (one.remoteAccount < another.remoteAccount ? -1 : 1))).toEqual([
    { ...placeOf(venueAccountRow('coin', 'a')), remoteAccount: '00'.repeat(32), assetClass: 16, attested: 0 },
    { ...placeOf(other), remoteAccount: '11'.repeat(32), assetClass: 16, attested: 1 },
  ]);
});

describe('prices', () => {
  const env = () => ({ LAUNCHPAD_CATALOGUE_URL: server.url, PRICE_URL: server.url });

  test('quotes in use get prices from both sources, one unknown to the catalogue only from the second', async () => {
    await store.insert('policies', [
      policyRow('one', 'usd'),
      policyRow('two', 'usd'),
      policyRow('three', 'unlisted'),
    ]);
    const rounds = [await turn(usedPricesRound, env()), await turn(secondPricesRound, env())];
    const readings = rounds.flatMap((log) => log.readings());
    const shown = readings.map((one) =>
      one.type === 'price' ? [one.mint, one.source, one.usd, one.observedAt] : [],
    );
    const byText = (list: unknown[]) => list.map((one) => JSON.stringify(one)).sort();
    expect(byText(shown)).toEqual(
      byText([
        [key('usd'), 'catalogue', '2.5', '2026-11-01T00:00:00.000Z'],
        [key('unlisted'), 'catalogue', null, null],
        [key('usd'), 'second', '3.10', null],
        [key('unlisted'), 'second', '3.10', null],
      ]),
    );
  });

  test('listed quotes that no policy has are priced in a round of their own; invalid rows make one dead letter', async () => {
    await store.insert('policies', [policyRow('one', 'usd')]);
    catalogue = [pair('usd'), pair('gold'), pair('odd', { decimals: -1 })];
    await keep(await turn(catalogueRound, env()));
    expect(await quoteMints(store)).toEqual({
      ...{ used: [key('usd')], unlisted: [], listed: [key('gold')] },
    });
    const log = await turn(catalogueRound, env());
    expect(log.readings().map(({ type }) => type)).toEqual(['catalogue']);
    const prices = await turn(listedPricesRound, env());
    expect(prices.readings().map((one) => [one.type, 'mint' in one ? one.mint : null])).toEqual([
      ['price', key('gold')],
    ]);
    expect(log.letters()).toMatchObject([
      { what: 'reading:catalogue', reason: expect.stringContaining('1 rows left out') },
    ]);
  });

  test('unlisted quotes are priced in turns, 30 a round, after the listed ones', async () => {
    const names = Array.from({ length: 70 }, (_, n) => `made up ${n}`);
    await store.insert(
      'policies',
      [...names, 'usd'].map((name) => policyRow(`of ${name}`, name)),
    );
    catalogue = [pair('usd')];
    await keep(await turn(catalogueRound, env()));
    const round = usedPricesRound(pollOptions(env(), { store }));
    const unlisted: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const log = captureLog();
      await round((records) => log.append(records));
      const [first, ...others] = log.readings().flatMap((one) => (one.type === 'price' ? [one.mint] : []));
      expect(first).toBe(key('usd'));
      expect(others).toHaveLength(30);
      unlisted.push(...others);
    }
    expect(new Set(unlisted)).toEqual(new Set(names.map(key)));
  });

  test.each([
    ['second', '/launchlab/pricing'],
    ['catalogue', '/mint/price'],
  ])('the %s source is still read while the other answers 429', async (source, resting) => {
    await store.insert('policies', [policyRow('one', 'usd')]);
    const well = { catalogue: { prices: { quoteUsd: 2.5 } }, second: { [key('usd')]: '3.10' } };
    const unkind = await serveAnswers(({ path }) => {
      if (path === resting) return { status: 429, headers: { 'retry-after': '600' } };
      if (path === '/pairs') return { body: { data: { pairs: [] } } };
      return { body: { success: true, data: path === '/mint/price' ? well.second : well.catalogue } };
    });
    const stop = new AbortController();
    const log = captureLog(() => {
      const read = log.readings().filter((one) => one.type === 'price' && one.source === source);
      if (read.length > 2) stop.abort();
    });
    const urls = { LAUNCHPAD_CATALOGUE_URL: unkind.url, PRICE_URL: unkind.url, POLL_INTERVAL_MS: '100' };
    await runPollers(pollOptions(urls, { store, log, signal: stop.signal }));
    await unkind.close();
    expect(new Set(log.readings().flatMap((one) => (one.type === 'price' ? [one.source] : [])))).toEqual(
      new Set([source]),
    );
  });

  test('no price is read where no source is configured', async () => {
    expect((await turn(usedPricesRound, {})).records).toEqual([]);
    expect((await turn(secondPricesRound, {})).records).toEqual([]);
    expect((await turn(catalogueRound, {})).records).toEqual([]);
  });
});

describe('the launchpad and the amm', () => {
  const asked: string[] = [];
  const rpc = {
    getAccountInfo: async (address: string) => {
      asked.push(address);
      if (address === key('amm')) throw new Error('getAccountInfo: no answer');
      return { slot: 1n, account: null };
    },
  } as unknown as Rpc;

  test('both are read at their default addresses, and at those of the protocol’s account once it is known', async () => {
    await turn(programsRound, {}, { rpc });
    expect(asked.splice(0)).toEqual([
      'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj',
      'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C',
    ]);
    await store.insert('protocol_config', [configRow()]);
    const log = await turn(programsRound, {}, { rpc });
    expect(log.readings()).toEqual([
      {
        type: 'program_status',
        program: 'launchpad',
        address: encodeBase58(LAUNCHPAD),
        exists: false,
        error: null,
      },
      {
        type: 'program_status',
        program: 'amm',
        address: key('amm'),
        exists: false,
        error: 'no answer',
      },
    ]);
  });
});

describe('documents', () => {
  const uri = (path: string) => `${server.url}${path}`;

  test('their URI is that of the mint, or of the account that it points to if that names the mint in turn', async () => {
    await store.insert(
      'policies',
      ['one', 'two', 'three', 'four'].map((mint) => policyRow(mint, 'usd')),
    );
    await store.insert('mints', [
      mintRow('one', 6, { uri: uri('/1.json') }),
      mintRow('two', 6, { metadata_pointer: key('far') }),
      mintRow('three', 6, { metadata_pointer: key('false') }),
      mintRow('four', 6),
      mintRow('usd', 6, { uri: uri('/usd.json') }),
    ]);
    const far = { ...mintRow('x', 6), name: 'n', symbol: 's', uri: uri('/2.json') };
    const { address, slot, version, block_time, source, exists, name, symbol } = far as Record<
      string,
      unknown
    >;
    const row = { address, slot, version, block_time, source, exists, name, symbol, uri: far.uri };
    await store.insert('metadata_accounts', [
      { ...row, address: key('far'), mint: key('two') },
      { ...row, address: key('false'), mint: key('two') },
    ]);
    expect((await metadataUris(store)).map(({ mint, uri: shown }) => [mint, shown]).sort()).toEqual(
      [
        [key('one'), uri('/1.json')],
        [key('two'), uri('/2.json')],
        [key('usd'), uri('/usd.json')],
      ].sort(),
    );
  });

  test('a document is read once, again after the interval, and at once when the mint has a new URI', async () => {
    await store.insert('policies', [policyRow('one', 'usd')]);
    await store.insert('mints', [mintRow('one', 6, { uri: uri('/gone.json') })]);
    let now = Date.now();
    const log = captureLog();
    const options = pollOptions({ METADATA_ALLOW_PRIVATE: 'true' }, { store, log });
    const round = documentsRound(options, 60_000, () => now);
    const turnRound = () => round((records) => log.append(records));
    await turnRound();
    await turnRound();
    expect(documentHits).toBe(1);
    expect(log.readings()).toMatchObject([
      { type: 'metadata', imageUrl: null, error: expect.stringContaining('answered 404') },
    ]);
    await keep(log);
    // A process that starts now finds the last reading in the store.
    await documentsRound(options, 60_000, () => now)(async () => {});
    expect(documentHits).toBe(1);
    now += 120_000;
    await turnRound();
    expect(documentHits).toBe(2);
    await store.insert('mints', [mintRow('one', 6, { uri: uri('/new.json'), version: String(2n ** 90n) })]);
    await turnRound();
    expect(documentHits).toBe(3);
    expect(log.readings().at(-1)).toMatchObject({
      uri: uri('/new.json'),
      imageUrl: 'https://images.example/a.png',
    });
  });

  test('a document that fails keeps the image known of the same URI, with the error beside it', async () => {
    await store.insert('policies', [policyRow('one', 'usd')]);
    await store.insert('mints', [mintRow('one', 6, { uri: uri('/gone.json') })]);
    const image_url = 'https://images.example/known.png';
    await store.insert('metadata_documents', [
      { mint: key('one'), read_at: '1', uri: uri('/gone.json'), image_url, error: null },
    ]);
    const log = captureLog();
    const options = pollOptions({ METADATA_ALLOW_PRIVATE: 'true' }, { store, log });
    await documentsRound(options, 60_000)((records) => log.append(records));
    expect(log.readings()).toMatchObject([{ imageUrl: image_url, error: 'metadata document: answered 404' }]);
  });

  test('a document that is not read by the end of its round waits for the next', async () => {
    await store.insert('policies', [policyRow('one', 'usd')]);
    await store.insert('mints', [mintRow('one', 6, { uri: uri('/one.json') })]);
    const log = captureLog();
    const options = pollOptions({ METADATA_ALLOW_PRIVATE: 'true' }, { store, log });
    const round = (roundMs: number) => documentsRound(options, 60_000, Date.now, { roundMs });
    await round(-1)((records) => log.append(records));
    expect(documentHits).toBe(0);
    await round(PATIENCE_MS)((records) => log.append(records));
    expect(log.readings()).toMatchObject([{ uri: uri('/one.json'), error: null }]);
  });

  test('hosts whose DNS never answers hold up no other document or lookup; documents never read come first', async () => {
    const silent = createSocket('udp4');
    await new Promise<void>((resolve) => silent.bind(0, '127.0.0.1', resolve));
    const nameServers = [`127.0.0.1:${silent.address().port}`];
    const dead = Array.from({ length: 12 }, (_, n) => `dead${n}`);
    await store.insert(
      'policies',
      [...dead, 'good', 'known'].map((mint) => policyRow(mint, 'usd')),
    );
    await store.insert('mints', [
      ...dead.map((mint) => mintRow(mint, 6, { uri: `http://${mint}.dead.example/x.json` })),
      mintRow('good', 6, { uri: uri('/good.json') }),
      mintRow('known', 6, { uri: uri('/known.json') }),
    ]);
    await store.insert('metadata_documents', [
      { mint: key('known'), read_at: '1', uri: uri('/known.json'), image_url: null, error: 'timed out' },
    ]);
    const log = captureLog();
    const options = pollOptions({ METADATA_ALLOW_PRIVATE: 'true' }, { store, log });
    const round = documentsRound(options, 60_000, Date.now, { timeoutMs: 5_000, nameServers });
    const ended = round((records) => log.append(records));
    await dnsLookup('localhost');
    await ended;
    const of = (mint: string) => log.readings().find((one) => 'mint' in one && one.mint === key(mint));
    expect(of('good')).toMatchObject({ error: null });
    expect(of('known')).toMatchObject({ error: null });
    const order = log.readings().map((one) => ('mint' in one ? one.mint : ''));
    expect(order.indexOf(key('good'))).toBeLessThan(order.indexOf(key('known')));
    // Four documents of the dead domain were waited for, two at a time; the rest waits for the next round.
    expect(order.filter((mint) => dead.some((name) => key(name) === mint)).length).toBeLessThanOrEqual(5);
    // Whichever gives up first, the lookup or the read, gives the error.
    expect(of(dead.find((name) => of(name) !== undefined) as string)).toMatchObject({
      error: expect.stringMatching(/^(timed out|no such host)$/),
    });
    silent.close();
  });
});
