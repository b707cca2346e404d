import type { MetadataTarget } from '../../clickhouse/queries/states/poll-targets.ts';

/** In which order documents are read. */
export interface DocumentTurns {
  /** @param due in the order of the store */
  order(due: readonly MetadataTarget[]): MetadataTarget[];
}

/**
 * Documents in the store's order take turns with the newest of those never read: an old backlog keeps no new mint
 * waiting. Those that came up in the same round are ordered by lot, for a mint's address is its maker's choice.
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
