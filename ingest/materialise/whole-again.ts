import type { Store } from '../../clickhouse/client.ts';
import { nameOf } from '../../clickhouse/queries/transactions/by-transaction.ts';
import { incompleteAmong } from '../../clickhouse/queries/transactions/unresolved.ts';
import type { IncompleteRow, TransactionRow } from '../../clickhouse/tables.ts';
import type { TransactionRecord } from '../../schemas/records.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';

/**
 * Rows that say of incomplete transactions which were read again whole that nothing is missing any more: such a one
 * need not be looked for among all that was read whole. At the tip nothing is read again, and nothing is asked.
 */
export async function wholeAgainRows(
  store: Store,
  records: readonly TransactionRecord[],
  whole: readonly TransactionRow[],
): Promise<IncompleteRow[]> {
  const again = new Set(records.filter(({ source }) => source === 'rpc').map(recordName));
  const read = new Map(whole.map((row) => [nameOf(row), row]));
  const incomplete = await incompleteAmong(
    store,
    [...read.values()].filter((row) => again.has(nameOf(row))),
  );
  return incomplete.map((row) => ({
    ...row,
    block_time: read.get(nameOf(row))?.block_time ?? null,
    ...{ policies: [], missing: [] },
  }));
}

const recordName = ({ slot, signature }: TransactionRecord): string =>
  nameOf({ slot: slot.toString(), signature: encodeBase58(signature) });
