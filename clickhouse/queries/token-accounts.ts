import { sharedRows } from '../shared-reads.ts';

/** exists 0: the chain was asked and there is no account at the address. */
export interface TokenAccountRow {
  address: string;
  exists: number;
  amount: string;
  block_time: string | null;
}

/** The token accounts at these addresses that were read, by address. */
export const tokenAccountsAt = sharedRows<TokenAccountRow>('address', (store, addresses) =>
  store.query(
    `SELECT address, exists, amount, block_time
     FROM token_accounts FINAL
     WHERE address IN {addresses:Array(String)}`,
    { addresses },
  ),
);
