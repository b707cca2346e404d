import { inPieces } from '../../../clickhouse/key-pieces.ts';
import type { PolicyTotalsRow } from '../../../clickhouse/queries/analytics/policy-totals.ts';
import type { DayWindow, EventWindow } from '../../../clickhouse/queries/ranking/day-windows.ts';
import type { MintRow } from '../../../clickhouse/queries/states/mints.ts';
import type { StoredPolicy } from '../../../clickhouse/queries/states/policy.ts';
import type { PoolRow } from '../../../clickhouse/queries/states/pools.ts';
import type { TokenAccountRow } from '../../../clickhouse/queries/states/token-accounts.ts';

/** What a turn reads of these keys anyway, and those that it does not read, or failed to. */
export interface Shared<Found> {
  found: readonly Found[];
  missing: readonly string[];
}

type Read<Found> = (keys: readonly string[]) => Promise<Shared<Found>>;

/**
 * Rows that the same turn reads anyway, for what is made of them: read twice, one of the two might be newer, and what is
 * answered later older than what was answered before.
 */
export interface AlreadyRead {
  policies: Read<StoredPolicy>;
  accounts: Read<TokenAccountRow>;
  /** By mint, like the two after it. */
  totals: Read<PolicyTotalsRow>;
  tokens: Read<MintRow>;
  windows: Read<readonly [mint: string, window: DayWindow<EventWindow>]>;
  pools: Read<PoolRow>;
}

const nothing = async (keys: readonly string[]): Promise<Shared<never>> => ({ found: [], missing: keys });

export const NOTHING_READ: AlreadyRead = {
  ...{
    policies: nothing,
    accounts: nothing,
    totals: nothing,
    tokens: nothing,
    windows: nothing,
    pools: nothing,
  },
};

/** What is read anyway, made into what is wanted, and by `ask` what is not. */
export async function sharedOr<Found, Wanted>(
  read: Read<Found>,
  keys: readonly string[],
  made: (one: Found) => Wanted,
  ask: (missing: readonly string[]) => Promise<readonly Wanted[]>,
): Promise<Wanted[]> {
  if (keys.length === 0) return [];
  const { found, missing } = await read(keys);
  return [...found.map(made), ...(await inPieces(missing, ask)).flat()];
}
