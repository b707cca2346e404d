import type { Changes } from '../../../../clickhouse/changes.ts';
import type { Store } from '../../../../clickhouse/client.ts';
import { inPieces } from '../../../../clickhouse/key-pieces.ts';
import type { BridgeRow } from '../../../../clickhouse/queries/analytics/bridge-flow.ts';
import {
  type TalliedVenueAccount,
  talliedVenueAccounts,
  venueAccountCount,
} from '../../../../clickhouse/queries/analytics/tallied.ts';
import { changedKeys } from './changed.ts';
import { oldestOf } from './oldest.ts';

/** Sums over the Remote venue accounts that are not revoked, of each asset class. */
export interface VenueSums {
  bridge: readonly BridgeRow[];
  /** Unix seconds of the newest attestation of each class that has one. */
  attestations: readonly { asset_class: number; remote_asof: string }[];
}

type Parts = Map<string, readonly TalliedVenueAccount[]>;

export const NO_VENUE_SUMS: VenueSums = { bridge: [], attestations: [] };

/** With more of them ClickHouse makes the sums. */
const MOST_ACCOUNTS = 20_000;

/** The accounts behind the sums, by policy. */
const partsOf = new WeakMap<VenueSums, Parts>();

/** Null where there are too many accounts. */
export async function loadVenueSums(store: Store): Promise<VenueSums | null> {
  if ((await venueAccountCount(store)) > MOST_ACCOUNTS * 2) return null;
  return summed(Map.groupBy(await talliedVenueAccounts(store, null), ({ policy }) => policy));
}

/** The sums with what has changed since; null where there are too many accounts. */
export async function refreshVenueSums(
  store: Store,
  before: VenueSums | null,
  changes: Changes,
): Promise<VenueSums | null> {
  // Once there are too many, ClickHouse makes the sums: whether there still are is not asked with every slot.
  if (before === null) return null;
  const parts = partsOf.get(before);
  const changed = changedKeys(changes, 'venue_accounts');
  if (parts === undefined || changed === null) return loadVenueSums(store);
  const known = new Map(parts);
  for (const policy of changed) known.delete(policy);
  const read = (await inPieces(changed, (policies) => talliedVenueAccounts(store, policies))).flat();
  for (const [policy, accounts] of Map.groupBy(read, (account) => account.policy))
    known.set(policy, accounts);
  return summed(known);
}

function summed(parts: Parts): VenueSums | null {
  const accounts = [...parts.values()].flat();
  if (accounts.length > MOST_ACCOUNTS) return null;
  const classes = [...Map.groupBy(accounts, ({ asset_class: of }) => of)];
  const sums = {
    bridge: classes.map(([asset_class, of]) => bridgeOf(asset_class, of)),
    attestations: classes
      .map(([asset_class, of]) => ({ asset_class, remote_asof: newestOf(of).toString() }))
      .filter(({ remote_asof: asof }) => asof !== '0'),
  };
  partsOf.set(sums, parts);
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

/** Zero only where none was attested: nobody attests times before 1970. */
function newestOf(accounts: readonly TalliedVenueAccount[]): bigint {
  return accounts.reduce((newest, { remote_asof: asof }) => {
    const time = BigInt(asof);
    return time !== 0n && (newest === 0n || time > newest) ? time : newest;
  }, 0n);
}
