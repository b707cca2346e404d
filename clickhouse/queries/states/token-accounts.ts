import { inOrder, keyWithin } from '../../in-order.ts';
import { rowsSince, SINCE } from '../../rows-since.ts';
import { sharedRows } from '../../shared-reads.ts';
import { type ReadState, readColumns } from '../../tables.ts';

const COLUMNS = readColumns('token_accounts', ['address', 'exists', 'mint', 'amount', 'block_time']);

/** exists 0: the chain was asked and there is no account at the address. */
export type TokenAccountRow = Pick<ReadState<'token_accounts'>, (typeof COLUMNS)[number]>;

/** The token accounts at these addresses that were read, by address. */
export const tokenAccountsAt = sharedRows<TokenAccountRow>('address', (store, addresses) =>
  store.query(
    `SELECT ${COLUMNS.join(', ')}
     FROM token_accounts FINAL
     WHERE address IN {addresses:Array(String)}`,
    { addresses },
  ),
);

/** Those of them that were written since a slot. */
export const tokenAccountsSince = rowsSince<TokenAccountRow>(
  'address',
  `SELECT ${COLUMNS.join(', ')}
   FROM token_accounts FINAL
   ${SINCE}
   WHERE address IN {keys:Array(String)}`,
);

export const tokenAccountsInOrder = inOrder(
  `SELECT address AS key, ${COLUMNS.join(', ')}
   FROM token_accounts FINAL
   WHERE ${keyWithin('address')}
   ORDER BY address
   LIMIT {most:UInt32}`,
);
