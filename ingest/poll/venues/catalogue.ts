import { holdsNoSecret } from '../../../runtime/config/secrets.ts';
import { eachYielding } from '../../../runtime/yielding.ts';
import type { CatalogueRow } from '../../../schemas/readings.ts';
import { type LogRecord, NO_ADDRESS } from '../../../schemas/records.ts';
import {
  createPairsReader,
  isOwnError,
  listedPairs,
  type Pairs,
  type Pricing,
  readPricing,
} from '../../../schemas/venues/catalogue.ts';
import { readPrices } from '../../../schemas/venues/prices.ts';
import { letterOfRows, type PollFailure, poll, pollReply, soundJson } from './call.ts';
import { isPrivateHost } from './public-address.ts';

/** Records of a read, with the failure where nothing sound came. */
export interface CatalogueRead {
  records: LogRecord[];
  failure: Pick<PollFailure, 'error' | 'retryAfterMs'> | null;
}

/** Limits of a reply that lists pairs: it may be long, and takes its time. */
export const LIST = { maxBytes: 32 * 1024 * 1024, timeoutMs: 20_000 };

/** The launch venue's pair catalogue, whole; rows that cannot be read go to the dead letters. */
export async function readCatalogue(base: string, signal: AbortSignal): Promise<CatalogueRead> {
  const call = {
    url: `${base}/pairs?launchable=true&launchLabReady=true`,
    what: 'reading:catalogue',
    where: NO_ADDRESS,
    signal,
    ...LIST,
  };
  const polled = await poll(call, listedPairs);
  if ('error' in polled) return failed(polled);
  const { rows: listed, bad } = await readListed(polled.value, base);
  const error = whyUnusable({ rows: listed, bad });
  if (error !== null)
    return { records: [letterOfRows(call, bad, error)], failure: { error, retryAfterMs: null } };
  const rows: CatalogueRow[] = [];
  await eachYielding(listed, (row) => {
    const isShown = row.logoUrl === null || isForReaders(row.logoUrl, base);
    rows.push(isShown ? row : { ...row, logoUrl: null });
  });
  const records: LogRecord[] = [
    { kind: 'reading', readAt: Date.now(), reading: { type: 'catalogue', rows } },
  ];
  if (bad.length > 0) records.push(letterOfRows(call, bad));
  return { records, failure: null };
}

/** Reads the pairs, however many there are, without keeping the thread from its other work. */
export async function readListed(pairs: readonly unknown[], base: string): Promise<Pairs> {
  const reader = createPairsReader(base);
  await eachYielding(pairs, reader.take);
  return reader.pairs();
}

/** Why a list is no reading: one without a readable row says nothing of what is listed. Null where it is one. */
export function whyUnusable({ rows, bad: [first, ...others] }: Pairs): string | null {
  if (first === undefined || rows.length > 0) return null;
  return `none of ${others.length + 1} rows can be read, the first for: ${first.reason}`;
}

/**
 * Whether readers may be shown the logo. Whoever lists a pair names it: a browser must not be sent to a host in its
 * reader's own network.
 */
function isForReaders(logoUrl: string, base: string): boolean {
  const { hostname } = new URL(logoUrl);
  return holdsNoSecret(logoUrl) && (hostname === new URL(base).hostname || !isPrivateHost(hostname));
}

const NONE: Pricing = {
  usd: null,
  observedAt: null,
  startMarketCapUsd: null,
  graduationMarketCapUsd: null,
  graduationMultiple: null,
};

/**
 * The catalogue's price of one quote mint. A mint that the catalogue says it does not list has no price there, which is
 * no failure.
 */
export async function readCataloguePrice(
  base: string,
  mint: string,
  signal: AbortSignal,
): Promise<CatalogueRead> {
  const url = `${base}/launchlab/pricing?quoteMint=${encodeURIComponent(mint)}`;
  const call = { url, what: 'reading:price', where: mint, signal };
  const polled = await pollReply(call, (reply) =>
    reply.status === 404 && isOwnError(reply.bytes) ? NONE : readPricing(soundJson(reply, call.what), mint),
  );
  if ('error' in polled) return failed(polled);
  const reading = { type: 'price', mint, source: 'catalogue', ...polled.value } as const;
  return { records: [{ kind: 'reading', readAt: Date.now(), reading }], failure: null };
}

/** How many mints one request to the second source names. */
export const MINTS_PER_CALL = 50;

/** Prices of the second source for up to MINTS_PER_CALL mints; it tells no time of its own. */
export async function readSecondPrices(
  base: string,
  mints: readonly string[],
  signal: AbortSignal,
): Promise<CatalogueRead> {
  const url = `${base}/mint/price?mints=${mints.map(encodeURIComponent).join(',')}`;
  const polled = await poll({ url, what: 'reading:price', where: NO_ADDRESS, signal }, (reply) =>
    readPrices(reply, mints),
  );
  if ('error' in polled) return failed(polled);
  const readAt = Date.now();
  const records = [...polled.value].map(
    ([mint, usd]): LogRecord => ({
      kind: 'reading',
      readAt,
      reading: { type: 'price', mint, source: 'second', ...NONE, usd },
    }),
  );
  return { records, failure: null };
}

function failed({ error, letter, retryAfterMs }: PollFailure): CatalogueRead {
  return { records: letter === null ? [] : [letter], failure: { error, retryAfterMs } };
}
