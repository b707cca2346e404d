import type { Store } from '../../../clickhouse/client.ts';
import {
  type ClaimRow,
  recentClaims,
  recentClaimsInOrder,
  recentClaimsOfBusy,
  wholeClaims,
} from '../../../clickhouse/queries/activity/claims.ts';
import {
  type PolicyTotalsRow,
  policyTotals,
  policyTotalsInOrder,
} from '../../../clickhouse/queries/analytics/policy-totals.ts';
import {
  claimsOfDay,
  claimsOfDayInOrder,
  claimsWindow,
  eventsOfDay,
  eventsOfDayInOrder,
  eventsWindow,
  NO_CLAIMS,
  NO_EVENTS,
} from '../../../clickhouse/queries/ranking/day-windows.ts';
import { type MintRow, mintsAt, mintsInOrder } from '../../../clickhouse/queries/states/mints.ts';
import {
  type LastTransactionRow,
  lastTransactions,
  lastTransactionsInOrder,
  lastTransactionsSince,
  policiesAt,
  policiesInOrder,
  policiesSince,
  type StoredPolicy,
  wholeTransaction,
} from '../../../clickhouse/queries/states/policy.ts';
import { type PoolRow, poolsAt, poolsInOrder } from '../../../clickhouse/queries/states/pools.ts';
import {
  type TokenAccountRow,
  tokenAccountsAt,
  tokenAccountsInOrder,
  tokenAccountsSince,
} from '../../../clickhouse/queries/states/token-accounts.ts';
import {
  type VenueAccountRow,
  venueAccountsInOrder,
  venueAccountsOf,
} from '../../../clickhouse/queries/states/venue-accounts.ts';
import {
  type VenueReadingRow,
  venueReadings,
  venueReadingsInOrder,
} from '../../../clickhouse/queries/status/venue-state.ts';
import { dayWindow, type Hints, list, row } from './kind.ts';

const STEADY = { steady: true } as const;

/** Kinds that answers about policies are made of: all of their rows are kept. */
export const POLICY_KINDS = {
  policy: row<StoredPolicy>({ policies: 'key' }, policiesAt, {
    ...{ ...STEADY, inOrder: policiesInOrder },
    since: policiesSince,
  }),
  lastTransaction: row<LastTransactionRow>({ policy_transactions: 'key' }, lastTransactions, {
    ...{ ...STEADY, inOrder: lastTransactionsInOrder, wholeOf: wholeTransaction },
    ...{ since: lastTransactionsSince, leastWritten: 1 },
  }),
  /** By policy. */
  venueAccounts: list<VenueAccountRow>({ venue_accounts: 'key' }, venueAccountsOf, {
    ...STEADY,
    inOrder: venueAccountsInOrder,
  }),
  tokenAccount: row<TokenAccountRow>({ token_accounts: 'key' }, tokenAccountsAt, {
    ...STEADY,
    inOrder: tokenAccountsInOrder,
    since: tokenAccountsSince,
  }),
  mint: row<MintRow>({ mints: 'key', metadata_accounts: 'key', metadata_documents: 'key' }, mintsAt, {
    ...STEADY,
    inOrder: mintsInOrder,
  }),
  pool: row<PoolRow>({ pools: 'key', curve_configs: 'any' }, poolsAt, { ...STEADY, inOrder: poolsInOrder }),
  /** By venue account. */
  venueReading: row<VenueReadingRow>({ account_readings: 'key' }, venueReadings, {
    ...STEADY,
    inOrder: venueReadingsInOrder,
  }),
  /** By mint, like the three after it. */
  totals: row<PolicyTotalsRow>({ policy_totals: 'key' }, policyTotals, {
    ...{ ...STEADY, sums: true },
    inOrder: policyTotalsInOrder,
  }),
  claimsOfDay: dayWindow({ events: 'key' }, NO_CLAIMS, claimsOfDay, {
    ...{ ...STEADY, heavy: true },
    all: { inOrder: claimsOfDayInOrder, windowOf: claimsWindow },
  }),
  eventsOfDay: dayWindow({ events: 'key' }, NO_EVENTS, eventsOfDay, {
    ...{ ...STEADY, heavy: true },
    all: { inOrder: eventsOfDayInOrder, windowOf: eventsWindow },
  }),
  /** Last, since kinds are folded in this order: where there is no room for all of it, all others have theirs. */
  claims: list<ClaimRow>({ events: 'key' }, claimsOf, {
    inOrder: recentClaimsInOrder,
    wholeOf: wholeClaims,
  }),
} as const;

async function claimsOf(store: Store, mints: readonly string[], hints: Hints) {
  const busy = await hints.busyAmong(mints);
  const others = busy.size === 0 ? mints : mints.filter((mint) => !busy.has(mint));
  const found = await Promise.all([recentClaims(store, others), recentClaimsOfBusy(store, [...busy])]);
  return new Map(found.flatMap((of) => [...of]));
}
