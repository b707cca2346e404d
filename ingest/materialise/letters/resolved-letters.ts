import type { Store } from '../../../clickhouse/client.ts';
import type { DeadLetterRow } from '../../../clickhouse/progress-tables.ts';
import { wholeAmong } from '../../../clickhouse/queries/activity/derived.ts';
import { lettersOf, waitsForTransaction } from '../../../clickhouse/queries/progress/dead-letters.ts';
import { nameOf, type TransactionPlace } from '../../../clickhouse/queries/transactions/by-transaction.ts';
import type { Facts } from '../rows/facts.ts';

export interface ResolvedRow {
  id: string;
  read_at: string;
}

/**
 * The letters that a batch resolves, once its own are stored. What a stream could not bring whole is read again over
 * RPC: the letter of a transaction that some reading decodes, before the letter or after it, waits for no better
 * decoder; nor does that of a transaction which the chain does not have in that slot.
 * @param isSoleWriter whether no other process has written of the partition since the batch before.
 */
export type ResolvedBy = (
  facts: Pick<Facts, 'transactions' | 'decided'>,
  letters: readonly DeadLetterRow[],
  batch: { partition: number; isSoleWriter: boolean; struck: readonly TransactionPlace[] },
) => Promise<ResolvedRow[]>;

export function createResolved(store: Store): ResolvedBy {
  /** By partition, whether some letter of a transaction is unresolved: as a rule none is, and nothing more is asked. */
  const waits = new Map<number, boolean>();
  const isWaiting = async (partition: number) => {
    const known = waits.get(partition) ?? (await waitsForTransaction(store));
    waits.set(partition, known);
    return known;
  };
  return async ({ transactions, decided }, letters, { partition, isSoleWriter, struck }) => {
    const own = letters.flatMap(({ what, at, slot }) =>
      what === 'transaction' && slot !== null ? [{ slot, signature: at }] : [],
    );
    if (!isSoleWriter) waits.delete(partition);
    if (own.length > 0) waits.set(partition, true);
    const over = [...transactions, ...decided, ...struck];
    if (own.length + over.length === 0 || !(await isWaiting(partition))) return [];
    const all = new Map([...(await wholeAmong(store, own)), ...over].map((one) => [nameOf(one), one]));
    const resolved = await lettersOf(store, [...all.values()]);
    // That may have been the last one: the next batch asks again.
    if (resolved.length > 0) waits.delete(partition);
    return resolved;
  };
}
