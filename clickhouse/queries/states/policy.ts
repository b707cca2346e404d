import { type AccountColumns, columnList } from '../../../schemas/program/account-fields.ts';
import type { Store } from '../../client.ts';
import { inOrder, inOrderUpTo, keyWithin } from '../../in-order.ts';
import { READING } from '../../reading-rank.ts';
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
 * Those of them that were written since a slot, by address: of all other rows the engine reads the versions alone,
 * where without a slot it would look through most of the table for a few hundred keys.
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
   WHERE ${keyWithin('address')} AND exists = 1
   ORDER BY address
   LIMIT {most:UInt32}`,
);

/** The slots alone of the same states: half of what the whole rows cost. */
export const policySlots = sharedRows<Pick<StoredPolicy, 'address' | 'slot'>>('address', (store, addresses) =>
  store.query(
    'SELECT address, slot FROM policies FINAL WHERE address IN {addresses:Array(String)} AND exists = 1',
    { addresses },
  ),
);

/** The mint of the policy with the most profit swept; null where there is no policy. */
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

/** The transactions of these policies that stand: struck ones do not. */
const STANDING_TRANSACTIONS = `
  FROM policy_transactions FINAL WHERE policy IN {keys:Array(String)} AND has_index != ${READING.struck}`;
const newestOf = (which: string): string => `
  SELECT policy, signature, slot, block_time ${STANDING_TRANSACTIONS} ${which}
  ORDER BY slot DESC, tx_index DESC, signature DESC
  LIMIT 1 BY policy`;

const NEWEST_SLOTS = `
  SELECT policy, max(slot) AS newest FROM policy_transactions WHERE policy IN {keys:Array(String)} GROUP BY policy`;
const IN_NEWEST_SLOTS = 'AND (policy, slot) IN arrayZip({keys:Array(String)}, {slots:Array(UInt64)})';

/**
 * The newest transaction with an event of each of these policies or a write to it, by policy. It is looked for in the newest
 * slot that a policy has one in, without merging all that it has; where all of that slot were struck out, among the rest.
 */
export const lastTransactions = sharedRows<LastTransactionRow>('policy', async (store, keys) => {
  const found = await store.query<{ policy: string; newest: string }>(NEWEST_SLOTS, { keys });
  if (found.length === 0) return [];
  const policies = found.map(({ policy }) => policy);
  const slots = found.map(({ newest }) => BigInt(newest));
  const rows = await store.query<LastTransactionRow>(newestOf(IN_NEWEST_SLOTS), { keys: policies, slots });
  if (rows.length === found.length) return rows;
  const known = new Set(rows.map(({ policy }) => policy));
  const others = policies.filter((policy) => !known.has(policy));
  return [...rows, ...(await store.query<LastTransactionRow>(newestOf(''), { keys: others }))];
});

/** The same for those of the policies that have a transaction in a slot or behind it. */
export const lastTransactionsSince = rowsSince<LastTransactionRow>(
  'policy',
  newestOf('AND slot >= {since:UInt64}'),
);

/** Each stretch goes through all of them: a second of the engine for 16 million. */
const MOST_TRANSACTIONS = 50_000_000;

/** The same for all policies; without a signature where all transactions of the newest slot were struck out. */
export const lastTransactionsInOrder = inOrderUpTo(
  MOST_TRANSACTIONS,
  'policy_transactions',
  `SELECT p.policy AS key, p.policy AS policy, t.newest.1 AS signature, t.newest.2 AS slot, t.newest.3 AS block_time
   FROM (SELECT policy FROM policy_transactions WHERE ${keyWithin('policy')} GROUP BY policy) AS p
   LEFT JOIN (
     SELECT policy, argMax((signature, slot, block_time), (slot, tx_index, signature)) AS newest
     FROM policy_transactions FINAL
     WHERE ${keyWithin('policy')} AND has_index != ${READING.struck} AND (policy, slot) IN (
       SELECT policy, max(slot) FROM policy_transactions WHERE ${keyWithin('policy')} GROUP BY policy)
     GROUP BY policy
   ) AS t ON t.policy = p.policy
   ORDER BY p.policy
   LIMIT {most:UInt32}`,
);

/** The transaction of a row that was read in order; null where it has to be looked for. */
export const wholeTransaction = (row: LastTransactionRow): LastTransactionRow | null =>
  row.signature === '' ? null : row;
