import type { Store } from '../../client.ts';

/** Where all that a policy's answers are made of is found. */
export interface PolicyKeys {
  address: string;
  mint: string;
  /** Its own, and those of its Local venue accounts. */
  tokenAccounts: string[];
  /** Empty where none was seen. */
  pools: string[];
}

interface PolicyRow extends Omit<PolicyKeys, 'tokenAccounts' | 'pools'> {
  quote_mint: string;
  accounts: string[];
}

/** The policies behind an address, in the order of their addresses, so many at most. */
export async function policyKeysAfter(store: Store, after: string, most: number): Promise<PolicyKeys[]> {
  const policies = await store.query<PolicyRow>(
    `SELECT address, mint, quote_mint, [bankroll, quote_escrow, base_escrow, holder_rewards] AS accounts
     FROM policies FINAL
     WHERE address > {after:String} AND exists = 1
     ORDER BY address
     LIMIT {most:UInt32}`,
    { after, most },
  );
  const [last] = policies.slice(-1);
  if (last === undefined) return [];
  const between = { after, last: last.address };
  const [venues, pools] = await Promise.all([
    store.query<{ policy: string; token_account: string }>(
      `SELECT policy, token_account
       FROM venue_accounts FINAL
       WHERE address IN (
           SELECT v.address FROM venue_accounts_by_policy AS v WHERE v.policy > {after:String} AND v.policy <= {last:String})
         AND kind = 'Local' AND exists = 1`,
      between,
    ),
    store.query<{ address: string; base_mint: string; quote_mint: string }>(
      `SELECT address, base_mint, quote_mint
       FROM pools FINAL
       WHERE base_mint IN (
           SELECT mint FROM policies WHERE address > {after:String} AND address <= {last:String})
         AND exists = 1`,
      between,
    ),
  ]);
  const local = Map.groupBy(venues, ({ policy }) => policy);
  const poolsOf = Map.groupBy(pools, ({ base_mint, quote_mint }) => `${base_mint} ${quote_mint}`);
  return policies.map(({ address, mint, quote_mint, accounts }) => ({
    ...{ address, mint },
    tokenAccounts: [...accounts, ...(local.get(address) ?? []).map((row) => row.token_account)],
    pools: (poolsOf.get(`${mint} ${quote_mint}`) ?? []).map((row) => row.address),
  }));
}
