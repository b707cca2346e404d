import { type AccountColumns, columnList } from '../../../schemas/program/account-fields.ts';
import type { Store } from '../../client.ts';
import { inOrder, inOrderUpTo, WITHIN } from '../../in-order.ts';
import { rowsSince, SINCE } from '../../rows-since.ts';
import { sharedRows } from '../../shared-reads.ts';
import type { ReadState } from '../../tables.ts';

const COLUMNS = [
  'address',
  'slot',
  'block_time',
  'signature',
  'bankroll',
  'quote_escrow',
  'base_escrow',
  'holder_rewards',
] as const;

/** The last good state of a policy account. Amounts are decimal strings, flags 0 or 1. */
export type StoredPolicy = AccountColumns<'Policy'> & Pick<ReadState<'policies'>, (typeof COLUMNS)[number]>;

const SHOWN = `${COLUMNS.join(', ')}, ${columnList('Policy')}`;

/** The policies at these addresses that exist, by address. */
export const policiesAt = sharedRows<StoredPolicy>('address', (store, addresses) =>
  store.query(
    `SELECT ${SHOWN}
     FROM policies FINAL
     WHERE address IN {addresses:Array(String)} AND exists = 1`,
    { addresses },
  ),
);

/**
 * Those of them that were written since a slot, by address: of the rest the engine reads the versions alone, where it
 * would look through most of the table for a few hundred keys.
 */
export const policiesSince = rowsSince<StoredPolicy>(
  'address',
  `SELECT ${SHOWN}
   FROM policies FINAL
   ${SINCE}
   WHERE address IN {keys:Array(String)} AND exists = 1`,
);

export const policiesInOrder = inOrder(
  `SELECT address AS key, ${SHOWN}
   FROM policies FINAL
   WHERE ${WITHIN('address')} AND exists = 1
   ORDER BY address
   LIMIT {most:UInt32}`,
);

/** Of the same states the slots alone: half of what the whole rows cost. */
export const policySlots = sharedRows<Pick<StoredPolicy, 'address' | 'slot'>>('address', (store, addresses) =>
  store.query(
    'SELECT address, slot FROM policies FINAL WHERE address IN {addresses:Array(String)} AND exists = 1',
    { addresses },
  ),
);

/** The mint of the policy that says it has swept most profit; null where there is none. */
export async function mostSweptMint(store: Store): Promise<string | null> {
  const [row] = await store.query<{ mint: string }>(
    'SELECT mint FROM policies FINAL WHERE exists ORDER BY profit_swept DESC, mint LIMIT 1',
  );
  return row?.mint ?? null;
}

export interface LastTransactionRow {
  policy: string;
  signature: string;
  slot: string;
  block_time: string | null;
}

/** The newest transaction with an event of each of these policies or a write to it, by policy. */
export const lastTransactions = sharedRows<LastTransactionRow>('policy', (store, policies) =>
  store.query(
    `SELECT policy, signature, slot, block_time
     FROM policy_transactions FINAL
     WHERE policy IN {policies:Array(String)} AND has_index != 2
     ORDER BY slot DESC, tx_index DESC, signature DESC
     LIMIT 1 BY policy`,
    { policies },
  ),
);

const MOST_TRANSACTIONS = 4_000_000;

export const lastTransactionsInOrder = inOrderUpTo(
  MOST_TRANSACTIONS,
  'policy_transactions',
  `SELECT policy AS key, policy, newest.1 AS signature, newest.2 AS slot, newest.3 AS block_time
   FROM (
     SELECT policy, argMax((signature, slot, block_time), (slot, tx_index, signature)) AS newest
     FROM policy_transactions FINAL
     WHERE ${WITHIN('policy')} AND has_index != 2
     GROUP BY policy
   )
   ORDER BY policy
   LIMIT {most:UInt32}`,
);
