import type { RankedPolicy } from '../../clickhouse/queries/ranking/ranked-keys.ts';
import type { Figure } from '../../schemas/figure.ts';
import {
  isSummed,
  OWN_KEYS,
  type OwnSort,
  type RankingRow,
  type Sort,
  type SumSort,
} from '../../schemas/responses/rankings.ts';

type JoinedSort = Exclude<Sort, OwnSort | SumSort>;

const FIGURES: Record<JoinedSort, (row: Unranked) => Pick<Figure, 'value'>> = {
  marketCap: (row) => row.marketCap.quote,
  bankroll: (row) => row.bankroll,
  activity: (row) => row.eventsLast24h,
};

/** A row before its rank is known. */
export type Unranked = Omit<RankingRow, 'rank'>;

/**
 * The value that a row ranks by, before dollars, as the store's engine writes it; null where absent, which ranks last.
 */
export function rankedBy(sort: Sort, row: Unranked, policy: RankedPolicy): string | null {
  const figureOf = (by: Exclude<Sort, OwnSort>) => (isSummed(by) ? row[by] : FIGURES[by](row));
  const value = isOwn(sort) ? policy[OWN_KEYS[sort].column] : figureOf(sort).value;
  return value === null ? null : String(value);
}

const isOwn = (sort: Sort): sort is OwnSort => sort in OWN_KEYS;
