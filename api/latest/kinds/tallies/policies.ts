import type { Changes } from '../../../../clickhouse/changes.ts';
import type { Store } from '../../../../clickhouse/client.ts';
import {
  type TalliedEscrow,
  type TalliedPolicy,
  talliedEscrows,
  talliedPolicies,
} from '../../../../clickhouse/queries/analytics/tallied.ts';
import type { QuoteTotalsRow } from '../../../../clickhouse/queries/analytics/totals.ts';
import { policyCount } from '../../../../clickhouse/queries/ranking/ranking.ts';
import type { BacklogRow } from '../../../../clickhouse/queries/status/status-counts.ts';
import { changedKeys } from './changed.ts';
import { oldestOf } from './oldest.ts';

/** Sums over all policies. */
export interface PolicySums {
  totals: readonly QuoteTotalsRow[];
  backlog: BacklogRow;
}

/** What they are sums of, by address: kept with them, so that what changed is all that is read again. */
interface Parts {
  policies: Map<string, TalliedPolicy>;
  escrows: Map<string, TalliedEscrow>;
}

export const NO_POLICY_SUMS: PolicySums = {
  totals: [],
  backlog: { policies: 0, backlog: 0, unread: 0, oldest_time: null },
};

/** Of more the engine makes the sums: these are 7 MB, and summed up in 10 ms. */
const MOST_POLICIES = 10_000;

const partsOf = new WeakMap<PolicySums, Parts>();

/** Null where they are too many. */
export async function loadPolicySums(store: Store): Promise<PolicySums | null> {
  if ((await policyCount(store)) > MOST_POLICIES) return null;
  const [policies, escrows] = await Promise.all([talliedPolicies(store, null), talliedEscrows(store, null)]);
  return summed({ policies: byAddress(policies), escrows: byAddress(escrows) });
}

/** The same, with what has changed since. */
export async function refreshPolicySums(
  store: Store,
  before: PolicySums | null,
  changes: Changes,
): Promise<PolicySums | null> {
  // Once they are too many the engine makes the sums: whether they are still is no question for each slot.
  if (before === null) return null;
  const parts = partsOf.get(before);
  const [changed, accounts] = [changedKeys(changes, 'policies'), changedKeys(changes, 'token_accounts')];
  if (parts === undefined || changed === null || accounts === null) return loadPolicySums(store);
  const policies = changed.length === 0 ? [] : await talliedPolicies(store, changed);
  const known = new Map(parts.policies);
  for (const address of changed) known.delete(address);
  for (const policy of policies) known.set(policy.address, policy);
  if (known.size > MOST_POLICIES) return null;
  const fresh = policies.map(({ quote_escrow: escrow }) => escrow);
  const touched = new Set(accounts);
  const held = [...known.values()].map(({ quote_escrow: escrow }) => escrow);
  const stale = [...new Set([...held.filter((escrow) => touched.has(escrow)), ...fresh])];
  const escrows = new Map(parts.escrows);
  for (const address of stale) escrows.delete(address);
  const read = stale.length === 0 ? [] : await talliedEscrows(store, stale);
  for (const escrow of read) escrows.set(escrow.address, escrow);
  return summed({ policies: known, escrows });
}

const byAddress = <Row extends { address: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.address, row]));

function summed(parts: Parts): PolicySums {
  const policies = [...parts.policies.values()];
  const totals = [...Map.groupBy(policies, ({ quote_mint: quote }) => quote)]
    .map(([quote, of]) => totalsOf(quote, of))
    .sort((a, b) => b.policy_count - a.policy_count || (a.quote_mint < b.quote_mint ? -1 : 1));
  const sums = { totals, backlog: backlogOf(policies, parts.escrows) };
  partsOf.set(sums, parts);
  return sums;
}

function totalsOf(quote: string, policies: readonly TalliedPolicy[]): QuoteTotalsRow {
  const count = (is: (policy: TalliedPolicy) => boolean) => policies.filter(is).length;
  const sum = (of: (policy: TalliedPolicy) => string) =>
    policies.reduce((total, policy) => total + BigInt(of(policy)), 0n).toString();
  return {
    quote_mint: quote,
    policy_count: policies.length,
    agent_count: count(({ mode }) => mode === 'Agent'),
    locked_count: count(({ locked }) => locked === 1),
    paused_count: count(({ paused }) => paused === 1),
    oldest_time: oldestOf(policies.map(({ block_time: time }) => time)),
    fees_claimed: sum((policy) => policy.fees_claimed),
    protocol_fees: sum((policy) => policy.protocol_fees),
    routed_to_lp: sum((policy) => policy.routed_to_lp),
    routed_to_bankroll: sum((policy) => policy.routed_to_bankroll),
    profit_swept: sum((policy) => policy.profit_swept),
    paid_to_holders: sum((policy) => policy.paid_to_holders),
    credit_spent: sum((policy) => policy.credit_spent),
  };
}

function backlogOf(
  policies: readonly TalliedPolicy[],
  escrows: ReadonlyMap<string, TalliedEscrow>,
): BacklogRow {
  const found = policies.map(({ quote_escrow: escrow }) => escrows.get(escrow));
  const full = found.filter((escrow) => escrow !== undefined && escrow.amount !== '0');
  return {
    policies: policies.length,
    backlog: full.length,
    unread: found.filter((escrow) => escrow === undefined).length,
    oldest_time: oldestOf(full.map((escrow) => escrow?.block_time ?? null)),
  };
}
