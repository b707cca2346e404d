import { type RankedPolicy, rankedPolicyOf } from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import type { StoredPolicy } from '../../../clickhouse/queries/states/policy.ts';
import type { TokenAccountRow } from '../../../clickhouse/queries/states/token-accounts.ts';
import type { Keys } from '../cells/cells.ts';
import type { LoadedKeys } from '../cells/load.ts';
import type { KindName } from '../kinds/kinds.ts';

/** Rows that the same turn reads by their keys for all others: null where it does not read all of these, or cannot. */
export interface AlreadyRead {
  policies(addresses: readonly string[]): Promise<RankedPolicy[] | null>;
  accounts(addresses: readonly string[]): Promise<TokenAccountRow[] | null>;
}

export const NOTHING_READ: AlreadyRead = { policies: async () => null, accounts: async () => null };

/** @param keys what is being read, and is there with `loading` */
export function alreadyRead(keys: Keys, loading: Promise<LoadedKeys>): AlreadyRead {
  const rowsOf = async <Row>(kind: KindName, wanted: readonly string[]): Promise<Row[] | null> => {
    const read = keys.get(kind);
    if (read === undefined || !wanted.every((key) => read.has(key))) return null;
    const loaded = (await loading).get(kind);
    if (loaded === undefined || loaded.error !== undefined) return null;
    const rows = wanted.map((key) => loaded.values.get(key)?.value as Row | undefined);
    return rows.filter((row): row is Awaited<Row> & Row => row !== undefined);
  };
  return {
    policies: async (addresses) =>
      (await rowsOf<StoredPolicy>('policy', addresses))?.map(rankedPolicyOf) ?? null,
    accounts: (addresses) => rowsOf<TokenAccountRow>('tokenAccount', addresses),
  };
}
