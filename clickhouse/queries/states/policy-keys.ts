import type { Store } from '../../client.ts';

/** Where all that a policy's answers are made of is found. */
export interface PolicyKeys {
  address: string;
  mint: string;
  /** Its own, and those of its Local venue accounts. */
  tokenAccounts: string[];
  /** Token accounts of its Remote venue accounts. */
  remotes: string[];
  /** Empty where none was seen. */
  pools: string[];
}

interface PolicyRow extends Pick<PolicyKeys, 'address' | 'mint'> {
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
  const [venues, pools] = await Promise.all([
    store.query<{ policy: string; kind: string; token_account: string }>(
      `SELECT policy, kind, token_account
       FROM venue_accounts FINAL
       WHERE address IN (
           SELECT v.address FROM venue_accounts_by_policy AS v WHERE v.policy > {after:String} AND v.policy <= {last:String})
         AND exists = 1`,
      { after, last: last.address },
    ),
    poolsOfMints(
      store,
      policies.map(({ mint }) => mint),
    ),
  ]);
  const byPolicy = Map.groupBy(venues, ({ policy }) => policy);
  const venuesOf = (policy: string, of: string) =>
    (byPolicy.get(policy) ?? []).filter(({ kind }) => kind === of).map((row) => row.token_account);
  return policies.map(({ address, mint, quote_mint, accounts }) => ({
    ...{ address, mint },
    tokenAccounts: [...accounts, ...venuesOf(address, 'Local')],
    remotes: venuesOf(address, 'Remote'),
    pools: pools(mint, quote_mint),
  }));
}

/** The addresses of the pools that were seen of a mint and its quote asset, for these mints. */
export async function poolsOfMints(
  store: Store,
  mints: readonly string[],
): Promise<(mint: string, quoteMint: string) => string[]> {
  const pools = await store.query<{ address: string; base_mint: string; quote_mint: string }>(
    `SELECT address, base_mint, quote_mint
     FROM pools FINAL
     WHERE base_mint IN {mints:Array(String)} AND exists = 1`,
    { mints },
  );
  const byPair = Map.groupBy(pools, ({ base_mint, quote_mint }) => `${base_mint} ${quote_mint}`);
  return (mint, quoteMint) => (byPair.get(`${mint} ${quoteMint}`) ?? []).map(({ address }) => address);
}
