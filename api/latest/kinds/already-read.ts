import { inPieces } from '../../../clickhouse/key-pieces.ts';
import type { PolicyTotalsRow } from '../../../clickhouse/queries/analytics/policy-totals.ts';
import type { DayWindow, EventWindow } from '../../../clickhouse/queries/ranking/day-windows.ts';
import type { MintRow } from '../../../clickhouse/queries/states/mints.ts';
import type { StoredPolicy } from '../../../clickhouse/queries/states/policy.ts';
import type { PoolRow } from '../../../clickhouse/queries/states/pools.ts';
import type { TokenAccountRow } from '../../../clickhouse/queries/states/token-accounts.ts';

/** Keys that a turn reads anyway, and those that it does not. */
export interface Shared<Found> {
  missing: readonly string[];
  /** What it finds of the others; null where it fails to read them. */
  found: Promise<readonly Found[] | null>;
}

type Read<Found> = (keys: readonly string[]) => Shared<Found>;

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

const nothing = (keys: readonly string[]): Shared<never> => ({ missing: keys, found: Promise.resolve([]) });

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
  const { missing, found } = read(keys);
  const [shared, own] = await Promise.all([found, inPieces(missing, ask)]);
  if (shared !== null) return [...shared.map(made), ...own.flat()];
  const others = new Set(missing);
  const failed = await inPieces(
    keys.filter((key) => !others.has(key)),
    ask,
  );
  return [...failed.flat(), ...own.flat()];
}
