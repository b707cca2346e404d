import type { Store } from '../../../clickhouse/client.ts';
import type { DeadLetterRow } from '../../../clickhouse/progress-tables.ts';
import {
  openTransactionLetters,
  readWell,
  type TransactionLetter,
} from '../../../clickhouse/queries/progress/dead-letters.ts';
import type { Facts } from '../rows/facts.ts';

export interface ResolvedRow {
  id: string;
  read_at: string;
}

/**
 * The letters that a batch resolves. What a stream could not bring whole is read again over RPC: a transaction that was
 * read well, before its letter or behind it, waits for no better decoder.
 * @param goesOn whether nobody else has written to the partition since the batch before.
 */
export type ResolvedBy = (
  facts: Pick<Facts, 'transactions' | 'decided'>,
  letters: readonly DeadLetterRow[],
  batch: { partition: number; goesOn: boolean },
) => Promise<ResolvedRow[]>;

export function createResolved(store: Store): ResolvedBy {
  /** Open letters of transactions, by their signatures, of each partition. */
  const open = new Map<number, Map<string, TransactionLetter[]>>();
  const openOf = async (partition: number, goesOn: boolean) => {
    const known = open.get(partition);
    if (goesOn && known !== undefined) return known;
    const all = Map.groupBy(await openTransactionLetters(store), ({ at }) => at);
    open.set(partition, all);
    return all;
  };
  return async ({ transactions, decided }, letters, { partition, goesOn }) => {
    const own = letters.filter(({ what }) => what === 'transaction');
    if (own.length + transactions.length + decided.length === 0) return [];
    const waiting = await openOf(partition, goesOn);
    for (const letter of own) waiting.set(letter.at, [...(waiting.get(letter.at) ?? []), letter]);
    if (waiting.size === 0) return [];
    const before =
      own.length === 0
        ? []
        : await readWell(
            store,
            own.map(({ at }) => at),
          );
    const read = new Set([...before, ...[...transactions, ...decided].map(({ signature }) => signature)]);
    return [...read].flatMap((signature) => {
      const over = waiting.get(signature) ?? [];
      waiting.delete(signature);
      return over.map(({ id, read_at }) => ({ id, read_at }));
    });
  };
}
