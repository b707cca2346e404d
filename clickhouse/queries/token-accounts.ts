import type { Store } from '../client.ts';

/** exists 0: the chain was asked and there is no account at the address. */
export interface TokenAccountRow {
  address: string;
  exists: number;
  amount: string;
  block_time: string | null;
}

/** The token accounts at these addresses that were read, by address. */
export async function tokenAccountsAt(
  store: Store,
  addresses: readonly string[],
): Promise<Map<string, TokenAccountRow>> {
  if (addresses.length === 0) return new Map();
  const rows = await store.query<TokenAccountRow>(
    `SELECT address, exists, amount, block_time
     FROM token_accounts FINAL
     WHERE address IN {addresses:Array(String)}`,
    { addresses: [...addresses] },
  );
  return new Map(rows.map((row) => [row.address, row]));
}
