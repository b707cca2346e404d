import { hash } from 'node:crypto';
import { byteKey } from '../../../schemas/solana/byte-key.ts';
import type { TransactionUpdate } from '../geyser/update.ts';

/** What was told of the last transactions, in short: a replay that reaches too far back tells nothing new. */
export interface ToldTransactions {
  /** What it is beside what was told of the same transaction in the same slot; remembered from then on. */
  take(update: TransactionUpdate): 'new' | 'again' | 'otherwise';
}

/** Some ten megabytes. */
const MOST = 50_000;
const HASH_CHARS = 16;
/** Servers of several versions may write the same transaction in as many ways. */
const MOST_OF_ONE = 4;

/** What is not remembered any more counts as new: nobody is asked which of two was so that nobody knows of. */
export function createToldTransactions(most = MOST): ToldTransactions {
  const told = new Map<string, string>();
  return {
    take: ({ slot, signature, payload }) => {
      const key = `${slot} ${byteKey(signature)}`;
      const known = told.get(key);
      const own = hash('sha256', payload, 'base64').slice(0, HASH_CHARS);
      if (known?.includes(own)) return 'again';
      told.set(key, (own + (known ?? '')).slice(0, MOST_OF_ONE * HASH_CHARS));
      if (told.size > most) told.delete(told.keys().next().value as string);
      return known === undefined ? 'new' : 'otherwise';
    },
  };
}
