import type { LogRecord } from '../../schemas/records.ts';
import { readPairs, readPricing } from '../../schemas/venues/catalogue.ts';
import { readPrices } from '../../schemas/venues/prices.ts';
import { NOWHERE, poll } from './call.ts';

/** The launch venue's pair catalogue, whole. */
export async function readCatalogue(base: string, signal: AbortSignal): Promise<LogRecord[]> {
  const url = `${base}/pairs?launchable=true&launchLabReady=true`;
  const polled = await poll({ url, what: 'reading:catalogue', where: NOWHERE, signal }, (reply) =>
    readPairs(reply, base),
  );
  if ('error' in polled) return polled.letter === null ? [] : [polled.letter];
  return [{ kind: 'reading', readAt: Date.now(), reading: { type: 'catalogue', rows: polled.value.rows } }];
}

/** The catalogue's price of one quote mint. */
export async function readCataloguePrice(
  base: string,
  mint: string,
  signal: AbortSignal,
): Promise<{ records: LogRecord[]; retryAfterMs: number | null }> {
  const url = `${base}/launchlab/pricing?quoteMint=${encodeURIComponent(mint)}`;
  const polled = await poll({ url, what: 'reading:price', where: mint, signal }, readPricing);
  if ('error' in polled) {
    return { records: polled.letter === null ? [] : [polled.letter], retryAfterMs: polled.retryAfterMs };
  }
  const reading = { type: 'price', mint, source: 'catalogue', ...polled.value } as const;
  return { records: [{ kind: 'reading', readAt: Date.now(), reading }], retryAfterMs: null };
}

const MINTS_PER_CALL = 50;

/** Prices of the second source, which tells no time of its own. */
export async function readSecondPrices(
  base: string,
  mints: readonly string[],
  signal: AbortSignal,
): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (let start = 0; start < mints.length && !signal.aborted; start += MINTS_PER_CALL) {
    const some = mints.slice(start, start + MINTS_PER_CALL);
    const url = `${base}/mint/price?mints=${some.map(encodeURIComponent).join(',')}`;
    const polled = await poll({ url, what: 'reading:price', where: NOWHERE, signal }, (reply) =>
      readPrices(reply, some),
    );
    if ('error' in polled) {
      if (polled.letter !== null) records.push(polled.letter);
      continue;
    }
    const readAt = Date.now();
    for (const [mint, usd] of polled.value) {
      const none = {
        observedAt: null,
        startMarketCapUsd: null,
        graduationMarketCapUsd: null,
        graduationMultiple: null,
      };
      records.push({
        kind: 'reading',
        readAt,
        reading: { type: 'price', mint, source: 'second', usd, ...none },
      });
    }
  }
  return records;
}
