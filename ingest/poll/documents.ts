import { metadataUris } from '../../clickhouse/queries/poll-targets.ts';
import { inParallel } from '../../runtime/parallel.ts';
import type { PollOptions, Round } from './round.ts';
import { readDocument } from './venues/document.ts';

const AT_ONCE = 4;

/**
 * Reads the document of every launched mint, again after `againAfterMs` or as soon as the mint names another.
 * @param clock milliseconds
 */
export function documentsRound(
  { config, store, signal }: Pick<PollOptions, 'config' | 'store' | 'signal'>,
  againAfterMs: number,
  clock: () => number = Date.now,
): Round {
  // What was asked for here lately may not be in the store yet.
  const asked = new Map<string, { uri: string; at: number }>();
  return async (emit) => {
    const targets = await metadataUris(store);
    const isFresh = (at: number) => clock() - at < againAfterMs;
    const due = targets.filter(({ mint, uri, readUri, readAt }) => {
      const own = asked.get(mint);
      if (own !== undefined && own.uri === uri && isFresh(own.at)) return false;
      return !(readUri === uri && isFresh(Number(readAt)));
    });
    const { ipfsGateway, metadataAllowPrivate: allowPrivate } = config;
    await inParallel(due, AT_ONCE, async ({ mint, uri }) => {
      if (signal.aborted) return;
      const record = await readDocument(mint, uri, { ipfsGateway, allowPrivate, signal });
      asked.set(mint, { uri, at: clock() });
      await emit([record]);
    });
  };
}
