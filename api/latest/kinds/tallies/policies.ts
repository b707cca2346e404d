import type { Changes } from '../../../../clickhouse/changes.ts';
import type { Store } from '../../../../clickhouse/client.ts';
import {
  type TalliedEscrow,
  type TalliedPolicy,
  talliedEscrowOf,
  talliedEscrows,
  talliedPolicies,
} from '../../../../clickhouse/queries/analytics/tallied.ts';
import type { QuoteTotalsRow } from '../../../../clickhouse/queries/analytics/totals.ts';
import { addressRangesBetween } from '../../../../clickhouse/queries/ranking/policy-selection.ts';
import { policyRangeEnds } from '../../../../clickhouse/queries/ranking/ranked-keys.ts';
import { policyCount } from '../../../../clickhouse/queries/ranking/ranking.ts';
import type { BacklogRow } from '../../../../clickhouse/queries/status/status-counts.ts';
import { ask, askInLines } from '../../../../clickhouse/question.ts';
import { eachYielding } from '../../../../runtime/yielding.ts';
import { type AlreadyRead, NOTHING_READ, sharedOr } from '../already-read.ts';
import { changedKeys } from './changed.ts';
import { createPolicyTally, type PolicyTally } from './policy-tally.ts';

/** Sums over all policies. */
export interface PolicySums {
  totals: readonly QuoteTotalsRow[];
  backlog: BacklogRow;
}

export const NO_POLICY_SUMS: PolicySums = {
  totals: [],
  backlog: { policies: 0, backlog: 0, unread: 0, oldest_time: null },
};

/** With more policies ClickHouse makes the sums: these take some 100 MB, and their oldest times are found in 3 ms. */
const MOST_POLICIES = 250_000;
/** Extra places: no more policies than this come and go with one turn. */
const SPARE = 5_000;
/** Policies that are read with one query. */
const RANGE = 25_000;

/** The tally behind the sums: every turn brings it up to date, so that only what changed is read again. */
const tallyOf = new WeakMap<PolicySums, PolicyTally>();

/** Null where there are too many policies. */
export async function loadPolicySums(store: Store, most = MOST_POLICIES): Promise<PolicySums | null> {
  const count = await policyCount(store);
  if (count > most) return null;
  const ends = count <= RANGE ? [] : await ask(store, policyRangeEnds(RANGE));
  const tally = createPolicyTally(most + SPARE);
  for (const range of addressRangesBetween(ends.map(({ address }) => address))) {
    await eachYielding(await askInLines(store, talliedPolicies(range)), tally.putPolicy);
    // Escrows are read after the policies: read before, the escrow of a policy that comes in between would be nobody's
    // and left out, and no later change would bring it.
    const escrows = await askInLines(store, talliedEscrows(range));
    await eachYielding(escrows, (escrow) => tally.putEscrow(escrow.address, escrow));
  }
  return summed(tally, most);
}

/** The sums with what has changed since; null where there are too many policies. */
export async function refreshPolicySums(
  store: Store,
  before: PolicySums | null,
  changes: Changes,
  read: AlreadyRead,
  most = MOST_POLICIES,
): Promise<PolicySums | null> {
  // Once there are too many, ClickHouse makes the sums: whether there still are is not asked with every slot.
  if (before === null) return null;
  const tally = tallyOf.get(before);
  const [changed, accounts] = [changedKeys(changes, 'policies'), changedKeys(changes, 'token_accounts')];
  if (tally === undefined || changed === null || accounts === null) return loadPolicySums(store, most);
  const policies = await policiesAt(store, changed, read);
  const known = accounts.filter(tally.isEscrow);
  const fresh = policies.map(({ quote_escrow: escrow }) => escrow).filter((one) => !tally.isEscrow(one));
  const escrows = [
    ...(await escrowsAt(store, known, read)),
    ...(await escrowsAt(store, fresh, NOTHING_READ)),
  ];
  // The tally is only seen through the sums made of it: rows read again because this turn failed are simply put again.
  const there = new Set(policies.map(({ address }) => address));
  await eachYielding(policies, tally.putPolicy);
  for (const address of changed) if (!there.has(address)) tally.dropPolicy(address);
  const held = new Map(escrows.map((escrow) => [escrow.address, escrow]));
  await eachYielding([...known, ...fresh], (address) => tally.putEscrow(address, held.get(address)));
  return summed(tally, most);
}

const policiesAt = (store: Store, keys: readonly string[], read: AlreadyRead): Promise<TalliedPolicy[]> =>
  sharedOr<TalliedPolicy, TalliedPolicy>(
    read.policies,
    keys,
    (policy) => policy,
    (missing) => ask(store, talliedPolicies(missing)),
  );

const escrowsAt = (store: Store, keys: readonly string[], read: AlreadyRead): Promise<TalliedEscrow[]> =>
  sharedOr(read.accounts, keys, talliedEscrowOf, (missing) => ask(store, talliedEscrows(missing)));

function summed(tally: PolicyTally, most: number): PolicySums | null {
  if (tally.size() > most) return null;
  const sums = { totals: tally.totals(), backlog: tally.backlog() };
  tallyOf.set(sums, tally);
  return sums;
}
