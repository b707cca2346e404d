import { type MetadataTarget, metadataUris } from '../../clickhouse/queries/states/poll-targets.ts';
import { inParallel } from '../../runtime/parallel.ts';
import { createDocumentTurns } from './document-turns.ts';
import type { PollOptions, Round } from './round.ts';
import { type DocumentOptions, readDocument } from './venues/document.ts';
import { siteOf, usesGateway } from './venues/site.ts';

/**
 * Sites that are read at once, and documents of one site: a site that never answers holds up its own documents alone.
 */
const SITES_AT_ONCE = 6;
const AT_ONCE_OF_SITE = 2;
/** After so many requests in a row without any answer the rest of a site waits for the next round. */
const SILENCES_OF_SITE = 4;
/** Documents that are not read by then wait for the next round, too. */
const ROUND_MS = 60_000;
const TIMED_OUT = 'timed out';
const SILENT = new Set([TIMED_OUT, 'no such host', 'refused', 'not reachable', 'connection lost']);

/** What a test may set. */
export interface DocumentLimits extends Pick<DocumentOptions, 'timeoutMs' | 'nameServers'> {
  roundMs?: number;
}

/**
 * Reads the document of every launched mint and of every quote, again after `againAfterMs` or as soon as the mint names
 * another. Those never read come first; in every other turn the newest of those.
 * @param clock milliseconds
 */
export function documentsRound(
  { config, store, signal }: Pick<PollOptions, 'config' | 'store' | 'signal'>,
  againAfterMs: number,
  clock: () => number = Date.now,
  { roundMs = ROUND_MS, ...limits }: DocumentLimits = {},
): Round {
  // What was asked for here lately may not be in the store yet.
  const asked = new Map<string, { uri: string; at: number }>();
  const turns = createDocumentTurns();
  return async (emit) => {
    const targets = await metadataUris(store);
    const isFresh = (at: number) => clock() - at < againAfterMs;
    const due = targets.filter(({ mint, uri, readUri, readAt }) => {
      const own = asked.get(mint);
      if (own !== undefined && own.uri === uri && isFresh(own.at)) return false;
      return !(readUri === uri && isFresh(Number(readAt)));
    });
    const endsAt = performance.now() + roundMs;
    const { ipfsGateway, metadataAllowPrivate: allowPrivate } = config;
    const read = async ({ mint, uri, readUri, imageUrl }: MetadataTarget): Promise<string | null> => {
      const known = readUri === uri ? imageUrl : null;
      const record = await readDocument(mint, uri, { ...limits, ipfsGateway, allowPrivate, signal, known });
      asked.set(mint, { uri, at: clock() });
      await emit([record]);
      return record.reading.error;
    };
    const lines = [...Map.groupBy(turns.order(due), ({ uri }) => siteOf(uri)).values()];
    await inParallel(lines, SITES_AT_ONCE, async (line) => {
      let silences = 0;
      await inParallel(line, AT_ONCE_OF_SITE, async (target) => {
        if (signal.aborted || silences >= SILENCES_OF_SITE || performance.now() > endsAt) return;
        const error = await read(target);
        silences = isSilence(target.uri, error) ? silences + 1 : 0;
      });
    });
  };
}

/**
 * Whether the site gave no answer at all. A gateway looks for what it does not have until the request times out: that
 * says nothing of the gateway.
 */
function isSilence(uri: string, error: string | null): boolean {
  if (error === null || !SILENT.has(error)) return false;
  return !(error === TIMED_OUT && usesGateway(uri));
}
