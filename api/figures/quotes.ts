import type { PairRow } from '../../clickhouse/queries/states/catalogue.ts';
import type { MintRow } from '../../clickhouse/queries/states/mints.ts';
import type { PriceRow } from '../../clickhouse/queries/states/prices.ts';
import type { QuoteAsset } from '../../schemas/responses/coin/coin.ts';
import { shortestDecimal } from '../../schemas/units.ts';
import type { ReadSettings } from '../deps/settings.ts';
import type { View } from '../latest/view.ts';
import { freshUntil, type Price, priceOf } from './price.ts';

/** A quote asset as served, with what money figures need of it. */
export interface Quote {
  mint: string;
  view: QuoteAsset;
  decimals: number | null;
  price: Price;
}

const CHAIN_SOURCE = 'chain:quote mint Token-2022 metadata';
/** The chain holds only the address of that document. */
const DOCUMENT_SOURCE = 'metadata document:image of the quote mint';

/** The name under which answers of the launch venue's pair catalogue are reported. */
export function catalogueSource(launchpadVenueId: string): string {
  return `${launchpadVenueId}:/pairs catalogue`;
}

/** The names under which the two sources of prices are reported. */
const priceSources = (launchpadVenueId: string): Record<PriceRow['source'], string> => ({
  catalogue: `${launchpadVenueId}:/launchlab/pricing`,
  second: 'PRICE_URL:/mint/price, which gives no time: that of our reading',
});

/** What is configured of the sources that name and price quote assets. */
type QuoteSettings = Pick<ReadSettings, 'launchpadVenueId' | 'pricesFrom'>;

/** The quote assets of these mints, each with the source that named it. */
export function quotesAt(view: View, settings: QuoteSettings, mints: readonly string[]): Map<string, Quote> {
  return new Map(mints.map((mint) => [mint, quoteAt(view, settings, mint)]));
}

/** @param settings the same for every view: the part is kept under a name that does not hold them */
export function quoteAt(view: View, settings: QuoteSettings, mint: string): Quote {
  return view.part(`quote ${mint}`, () => {
    const prices = view.get('prices', mint);
    view.expireAt(freshUntil(prices, view.now));
    const row = view.get('mint', mint);
    const pair = view.get('pair', mint);
    const unnamed = () => unnamedReason(row, view.single('hasCatalogue'), settings);
    return quoteOf(mint, row, pair, prices, settings, view.now, unnamed);
  });
}

/** What stays of a quote asset while its price moves. */
export interface NamedQuote {
  symbol: string | null;
  decimals: number | null;
}

/** @param launchpadVenueId the same for every view */
export function quoteNameAt(view: View, launchpadVenueId: string, mint: string): NamedQuote {
  return view.part(`quote name ${mint}`, () => {
    const row = view.get('mint', mint);
    const pair = view.get('pair', mint);
    const { symbol, decimals } = nameOf(row, pair, catalogueSource(launchpadVenueId), decimalsOf(row));
    return { symbol, decimals };
  });
}

const decimalsOf = (row: MintRow | undefined): number | null =>
  row !== undefined && row.exists === 1 ? row.decimals : null;

function quoteOf(
  mint: string,
  row: MintRow | undefined,
  pair: PairRow | undefined,
  prices: readonly PriceRow[],
  { launchpadVenueId, pricesFrom }: QuoteSettings,
  now: number,
  unnamed: () => string,
): Quote {
  const source = catalogueSource(launchpadVenueId);
  const price = priceOf(prices, now, pricesFrom);
  const decimals = decimalsOf(row);
  const name = nameOf(row, pair, source, decimals);
  return {
    mint,
    decimals,
    price,
    view: {
      ...name,
      ...(name.symbol === null ? { symbolAbsentReason: unnamed() } : {}),
      ...iconOf(row, pair, source),
      priceUsd: price.usd === null ? null : shortestDecimal(price.usd),
      priceObservedAt: price.observedAt,
      ...(price.usd === null
        ? { priceAbsentReason: price.reason }
        : { priceSource: priceSources(launchpadVenueId)[price.source] }),
    },
  };
}

/** The fields of a quote asset's name, in the order in which they are served. */
function nameOf(
  row: MintRow | undefined,
  pair: PairRow | undefined,
  source: string,
  decimals: number | null,
) {
  if (pair !== undefined && pair.symbol !== '') {
    return { symbol: pair.symbol, name: pair.name || null, decimals, symbolSource: source };
  }
  if (row !== undefined && row.symbol !== null && row.symbol !== '') {
    return { symbol: row.symbol, name: row.name, decimals, symbolSource: CHAIN_SOURCE };
  }
  return { symbol: null, name: null, decimals, symbolSource: null };
}

/** Why neither the catalogue nor the chain gives a symbol: none is there, or that source was not read. */
function unnamedReason(
  row: MintRow | undefined,
  hasCatalogue: boolean,
  { launchpadVenueId, pricesFrom }: QuoteSettings,
): string {
  const source = catalogueSource(launchpadVenueId);
  if (hasCatalogue && row !== undefined) return `no symbol in the ${source}, none in ${CHAIN_SOURCE}`;
  const unread = pricesFrom.includes('catalogue')
    ? `the ${source} was not read yet`
    : `the ${source} is not read, for LAUNCHPAD_CATALOGUE_URL is not set`;
  return [
    hasCatalogue ? `no symbol in the ${source}` : unread,
    row === undefined ? `${CHAIN_SOURCE} was not read yet` : `no symbol in ${CHAIN_SOURCE}`,
  ].join('; ');
}

function iconOf(row: MintRow | undefined, pair: PairRow | undefined, source: string) {
  if (pair !== undefined && pair.logo_url !== null && pair.logo_url !== '') {
    return { iconUrl: pair.logo_url, iconSource: source };
  }
  if (row !== undefined && row.image_url !== null)
    return { iconUrl: row.image_url, iconSource: DOCUMENT_SOURCE };
  return { iconUrl: null, iconSource: null };
}
