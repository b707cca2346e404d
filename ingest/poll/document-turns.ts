import type { MetadataTarget } from '../../clickhouse/queries/states/poll-targets.ts';

/** In which order documents are read. */
export interface DocumentTurns {
  /** @param due in the order of the store */
  order(due: readonly MetadataTarget[]): MetadataTarget[];
}

/**
 * In turns with the store's order comes the newest of those never read: what somebody left to be read before keeps nobody
 * waiting who comes now. Of those that came at once a lot decides, for a mint's address is its maker's choice.
 */
export function createDocumentTurns(lot: () => number = Math.random): DocumentTurns {
  const came = new Map<string, { round: number; lot: number }>();
  let round = 0;
  const newestFirst = (one: MetadataTarget, other: MetadataTarget) => {
    const [a, b] = [came.get(one.mint), came.get(other.mint)];
    return a === undefined || b === undefined ? 0 : b.round - a.round || a.lot - b.lot;
  };
  return {
    order: (due) => {
      round += 1;
      for (const { mint } of due) if (!came.has(mint)) came.set(mint, { round, lot: lot() });
      const newest = due.filter(({ readUri }) => readUri === null).sort(newestFirst);
      return [
        ...new Set(
          due.flatMap((target, n) => (n < newest.length ? [target, newest[n] as MetadataTarget] : [target])),
        ),
      ];
    },
  };
}
