import type { StoredPolicy } from '../../../clickhouse/queries/states/policy.ts';
import type { TokenAccountRow } from '../../../clickhouse/queries/states/token-accounts.ts';

/**
 * Rows that the same turn reads anyway, for kinds made of them: null where it does not read all of these, or failed to.
 */
export interface AlreadyRead {
  policies(addresses: readonly string[]): Promise<StoredPolicy[] | null>;
  accounts(addresses: readonly string[]): Promise<TokenAccountRow[] | null>;
}

export const NOTHING_READ: AlreadyRead = { policies: async () => null, accounts: async () => null };
