import type { EventsOfDay } from '../../clickhouse/queries/ranking/day-windows.ts';
import type {
  RankedAccount,
  RankedPolicy,
  RankedSums,
  RankedToken,
} from '../../clickhouse/queries/ranking/ranked-keys.ts';
import type { PoolRow } from '../../clickhouse/queries/states/pools.ts';
import { eventsOfDay } from '../figures/day-windows.ts';
import { poolOf } from '../figures/market-cap.ts';
import { type RankedRow, shownOf } from '../latest/ranked/row.ts';
import type { View } from '../latest/view.ts';

/** What a row of a ranking is made of. */
export interface RowFacts {
  policy: RankedPolicy;
  token: Pick<RankedToken, 'name' | 'symbol' | 'image_url'> | undefined;
  totals: Omit<RankedSums, 'mint'> | undefined;
  events: EventsOfDay;
  /** Address of the launchpad's pool of its pair, and what was read there. */
  pool: string;
  poolRow: PoolRow | undefined;
  account: RankedAccount | undefined;
}

/** The facts of a row, as the orders in memory hold them. */
export function factsIn(view: View, launchpad: string, row: RankedRow): RowFacts {
  const shown = shownOf(row);
  // The launchpad has one pool per pair. Of a pool that is closed, or was never seen, only the address is known.
  const pool = row.pool ?? poolOf(launchpad, row.mint, row.quote);
  return {
    policy: shown.policy,
    token: shown.token,
    totals: shown.totals,
    events: shown.events,
    pool,
    poolRow: shown.pool ?? view.get('pool', pool),
    account: shown.account,
  };
}

/**
 * The facts of a policy, each by its own key, for where the store's engine ranks. Null where there is no such policy.
 */
export function factsAt(view: View, launchpad: string, address: string): RowFacts | null {
  const policy = view.get('policy', address);
  if (policy === undefined) return null;
  const pool = poolOf(launchpad, policy.mint, policy.quote_mint);
  return {
    policy,
    token: view.get('mint', policy.mint),
    totals: view.get('totals', policy.mint),
    events: eventsOfDay(view, policy.mint),
    ...{ pool, poolRow: view.get('pool', pool) },
    account: view.get('tokenAccount', policy.bankroll),
  };
}
