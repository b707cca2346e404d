import type { Store } from '../../client.ts';
import type { Question } from '../../question.ts';
import { amongEscrows, amongPolicies, type PolicySelection } from '../ranking/policy-selection.ts';
import type { TokenAccountRow } from '../states/token-accounts.ts';

/** The fields of a policy that sums over all policies are made of. */
export interface TalliedPolicy {
  address: string;
  quote_mint: string;
  mode: string;
  locked: number;
  paused: number;
  block_time: string | null;
  quote_escrow: string;
  fees_claimed: string;
  protocol_fees: string;
  routed_to_lp: string;
  routed_to_bankroll: string;
  profit_swept: string;
  paid_to_holders: string;
  credit_spent: string;
}

/** The policies that exist. */
export function talliedPolicies(selection: PolicySelection): Question<TalliedPolicy> {
  const { sql, params } = amongPolicies(selection);
  return {
    sql: `SELECT address, quote_mint, mode, locked, paused, block_time, quote_escrow, fees_claimed, protocol_fees,
       routed_to_lp, routed_to_bankroll, profit_swept, paid_to_holders, credit_spent
     FROM policies FINAL WHERE exists = 1 AND ${sql}`,
    params,
  };
}

export interface TalliedEscrow {
  address: string;
  /** '0' where the account was closed. */
  amount: string;
  block_time: string | null;
}

/** What these quote escrows hold; one that was not read is left out. */
export function talliedEscrows(selection: PolicySelection): Question<TalliedEscrow> {
  const { sql, params } = amongEscrows('address', selection);
  return {
    sql: `SELECT address, toString(if(exists = 1, amount, 0)) AS amount, block_time
     FROM token_accounts FINAL WHERE ${sql}`,
    params,
  };
}

/** The same, made of the account's row. */
export const talliedEscrowOf = ({ address, exists, amount, block_time }: TokenAccountRow): TalliedEscrow => ({
  ...{ address, block_time },
  amount: exists === 1 ? amount : '0',
});

/** The fields of a venue account that sums over all of them are made of. */
export interface TalliedVenueAccount {
  policy: string;
  asset_class: number;
  asset_mint: string;
  bridged_out: string;
  remote_equity: string;
  remote_asof: string;
  block_time: string | null;
}

/** The Remote accounts of these policies that are not revoked. @param policies null: of all */
export function talliedVenueAccounts(
  store: Store,
  policies: readonly string[] | null,
): Promise<TalliedVenueAccount[]> {
  const which =
    policies === null
      ? '1'
      : `address IN (SELECT v.address FROM venue_accounts_by_policy AS v WHERE v.policy IN {policies:Array(String)})
       AND policy IN {policies:Array(String)}`;
  return store.query(
    `SELECT policy, asset_class, asset_mint, bridged_out, remote_equity, remote_asof, block_time
     FROM venue_accounts FINAL
     WHERE exists = 1 AND kind = 'Remote' AND revoked = 0 AND ${which}`,
    { policies: policies ?? [] },
  );
}

/** How many accounts there are or were. */
export async function venueAccountCount(store: Store): Promise<number> {
  const [row] = await store.query<{ count: string }>('SELECT count() AS count FROM venue_accounts');
  return Number(row?.count ?? 0);
}
