import type { Changes } from '../../../../clickhouse/changes.ts';
import type { Store } from '../../../../clickhouse/client.ts';
import { inPieces } from '../../../../clickhouse/key-pieces.ts';
import type { BridgeRow } from '../../../../clickhouse/queries/analytics/bridge-flow.ts';
import {
  type TalliedVenueAccount,
  talliedVenueAccounts,
  venueAccountCount,
} from '../../../../clickhouse/queries/analytics/tallied.ts';
import {
  type DifferingCount,
  type VenueCount,
  venueCounts,
} from '../../../../clickhouse/queries/analytics/venue-counts.ts';
import { changedKeys } from './changed.ts';
import { oldestOf } from './oldest.ts';
import { differingCounts, firstOf, higher, type KnownAccounts } from './venue-counts.ts';

/** Sums over the Remote venue accounts that are not revoked, of each asset class. */
export interface VenueSums {
  bridge: readonly BridgeRow[];
  /** Unix seconds of the newest attestation of each class that has one. */
  attestations: readonly { asset_class: number; remote_asof: string }[];
  /** Of a policy that has another number of accounts than are known, of whatever kind. */
  differing: DifferingCount | null;
}

interface PolicyAccounts extends KnownAccounts {
  /** That are summed. */
  remote: readonly TalliedVenueAccount[];
}

/** By policy. */
interface Parts {
  accounts: Map<string, PolicyAccounts>;
  /** Of those that have accounts, or say so. */
  counts: Map<string, VenueCount>;
  differing: ReadonlyMap<string, DifferingCount>;
}

export const NO_VENUE_SUMS: VenueSums = { bridge: [], attestations: [], differing: null };

/** Of more the engine makes the sums. */
const MOST_ACCOUNTS = 20_000;

/** What they are sums of. */
const partsOf = new WeakMap<VenueSums, Parts>();

/** Null where they are too many. */
export async function loadVenueSums(store: Store): Promise<VenueSums | null> {
  if ((await venueAccountCount(store)) > MOST_ACCOUNTS * 2) return null;
  const parts: Parts = { accounts: new Map(), counts: new Map(), differing: new Map() };
  putAccounts(parts, await talliedVenueAccounts(store, null));
  putCounts(parts, await venueCounts(store, null));
  return summed(parts);
}

/** The same, with what has changed since. */
export async function refreshVenueSums(
  store: Store,
  before: VenueSums | null,
  changes: Changes,
): Promise<VenueSums | null> {
  // Once they are too many the engine makes the sums: whether they are still is no question for each slot.
  if (before === null) return null;
  const parts = partsOf.get(before);
  const [changed, written] = [changedKeys(changes, 'venue_accounts'), changedKeys(changes, 'policies')];
  if (parts === undefined || changed === null || written === null) return loadVenueSums(store);
  const policies = [...new Set([...changed, ...written])];
  const accounts = (await inPieces(changed, (piece) => talliedVenueAccounts(store, piece))).flat();
  const counts = (await inPieces(policies, (piece) => venueCounts(store, piece))).flat();
  const known = { ...parts, accounts: new Map(parts.accounts), counts: new Map(parts.counts) };
  for (const policy of changed) known.accounts.delete(policy);
  for (const policy of policies) known.counts.delete(policy);
  putAccounts(known, accounts);
  putCounts(known, counts);
  return summed(known);
}

function putAccounts({ accounts }: Parts, rows: readonly TalliedVenueAccount[]): void {
  for (const [policy, own] of Map.groupBy(rows, (row) => row.policy)) {
    const open = own.filter((row) => row.open === 1);
    accounts.set(policy, {
      remote: open.filter(({ kind }) => kind === 'Remote'),
      open: open.length,
      streamed: own.reduce((newest, { streamed }) => higher(newest, BigInt(streamed)), 0n),
    });
  }
}

function putCounts({ accounts, counts }: Parts, rows: readonly VenueCount[]): void {
  for (const row of rows) if (row.venue_count > 0 || accounts.has(row.address)) counts.set(row.address, row);
}

function summed(parts: Parts): VenueSums | null {
  const accounts = [...parts.accounts.values()].flatMap(({ remote }) => remote);
  if (accounts.length > MOST_ACCOUNTS || parts.counts.size > MOST_ACCOUNTS) return null;
  const accountsOf = (policy: string) => parts.accounts.get(policy);
  const differing = differingCounts(parts.counts.values(), accountsOf, parts.differing);
  const classes = [...Map.groupBy(accounts, ({ asset_class: of }) => of)];
  const sums = {
    bridge: classes.map(([asset_class, of]) => bridgeOf(asset_class, of)),
    attestations: classes
      .map(([asset_class, of]) => ({ asset_class, remote_asof: newestOf(of).toString() }))
      .filter(({ remote_asof: asof }) => asof !== '0'),
    differing: firstOf(differing),
  };
  partsOf.set(sums, { ...parts, differing });
  return sums;
}

function bridgeOf(asset_class: number, accounts: readonly TalliedVenueAccount[]): BridgeRow {
  const sum = (of: (account: TalliedVenueAccount) => string) =>
    accounts.reduce((total, account) => total + BigInt(of(account)), 0n).toString();
  return {
    asset_class,
    account_count: accounts.length,
    bridged_out: sum((account) => account.bridged_out),
    attested: sum((account) => account.remote_equity),
    unattested_count: accounts.filter(({ remote_asof: asof }) => asof === '0').length,
    oldest_time: oldestOf(accounts.map(({ block_time: time }) => time)),
    oldest_asof: oldestOf(accounts.map(({ remote_asof: asof }) => asof)) ?? '0',
    asset_mints: [...new Set(accounts.map(({ asset_mint: mint }) => mint))],
  };
}

/** Never zero but where none was attested: times before 1970 are attested by nobody. */
function newestOf(accounts: readonly TalliedVenueAccount[]): bigint {
  return accounts.reduce((newest, { remote_asof: asof }) => {
    const time = BigInt(asof);
    return time !== 0n && (newest === 0n || time > newest) ? time : newest;
  }, 0n);
}
