import type { Store } from '../../../clickhouse/client.ts';
import type { DeadLetterRow } from '../../../clickhouse/progress-tables.ts';
import { wholeAmong } from '../../../clickhouse/queries/activity/derived.ts';
import { lettersOf, waitsForTransaction } from '../../../clickhouse/queries/progress/dead-letters.ts';
import { type InSlot, nameOf } from '../../../clickhouse/queries/transactions/by-transaction.ts';
import type { Facts } from '../rows/facts.ts';

export interface ResolvedRow {
  id: string;
  read_at: string;
}

/**
 * The letters that a batch resolves, once its own are stored. What a stream could not bring whole is read again over
 * RPC: a transaction that was read well, before its letter or behind it, waits for no better decoder; nor does one that
 * the chain does not have in that slot.
 * @param goesOn whether nobody else has written to the partition since the batch before.
 */
export type ResolvedBy = (
  facts: Pick<Facts, 'transactions' | 'decided'>,
  letters: readonly DeadLetterRow[],
  batch: { partition: number; goesOn: boolean; struck: readonly InSlot[] },
) => Promise<ResolvedRow[]>;

export function createResolved(store: Store): ResolvedBy {
  /** Whether a transaction waits, for each partition that is known of: as a rule none does, and nothing is asked. */
  const waits = new Map<number, boolean>();
  const isWaiting = async (partition: number) => {
    const known = waits.get(partition) ?? (await waitsForTransaction(store));
    waits.set(partition, known);
    return known;
  };
  return async ({ transactions, decided }, letters, { partition, goesOn, struck }) => {
    const own = letters.flatMap(({ what, at, slot }) =>
      what === 'transaction' && slot !== null ? [{ slot, signature: at }] : [],
    );
    if (!goesOn) waits.delete(partition);
    if (own.length > 0) waits.set(partition, true);
    const over = [...transactions, ...decided, ...struck];
    if (own.length + over.length === 0 || !(await isWaiting(partition))) return [];
    const all = new Map([...(await wholeAmong(store, own)), ...over].map((one) => [nameOf(one), one]));
    const resolved = await lettersOf(store, [...all.values()]);
    // It may have been the last.
    if (resolved.length > 0) waits.delete(partition);
    return resolved;
  };
}
