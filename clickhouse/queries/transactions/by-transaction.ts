import { chunks } from '../../../runtime/chunks.ts';

/** A transaction by its place in the chain. */
export interface TransactionPlace {
  slot: string;
  signature: string;
}

export const nameOf = ({ slot, signature }: TransactionPlace): string => `${slot} ${signature}`;

/** Transactions in one question: the lists travel as bound parameters, in the address of the request. */
export const PER_QUESTION = 500;

/**
 * The condition that rows are of these transactions. The tables are in the order of policies (events: of their mints),
 * then of slots: with the slots given, a policy's older rows are passed over, however many there are. Of all other rows
 * of a table in another order only the slots are read.
 */
export const AMONG_TRANSACTIONS =
  'PREWHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)}';

/** Asks about transactions by the lists of their slots and signatures, in several questions where there are many. */
export async function byTransaction<T>(
  transactions: readonly TransactionPlace[],
  ask: (of: { slots: bigint[]; signatures: string[] }) => Promise<T[]>,
): Promise<T[]> {
  const answers: T[] = [];
  for (const some of chunks(transactions, PER_QUESTION)) {
    const slots = [...new Set(some.map(({ slot }) => slot))].map(BigInt);
    answers.push(...(await ask({ slots, signatures: some.map(({ signature }) => signature) })));
  }
  return answers;
}
