import { hash } from 'node:crypto';
import { byteKey } from '../../../schemas/solana/byte-key.ts';
import type { TransactionUpdate } from '../geyser/update.ts';

/** Short hashes of the last transactions, to recognise what a replay that reaches too far back repeats. */
export interface SeenTransactions {
  /**
   * Compares an update with those told of the same transaction in the same slot (`otherwise`: it differs), and
   * remembers it.
   */
  take(update: TransactionUpdate): 'new' | 'again' | 'otherwise';
}

/** Some ten megabytes. */
const MOST = 50_000;
const HASH_CHARS = 16;
/** Hashes of one transaction: servers of several versions may encode it in different ways. */
const MOST_OF_ONE = 4;

/**
 * A transaction that is not remembered any more counts as new: without the earlier version there is nothing to decide
 * between.
 */
export function createSeenTransactions(most = MOST): SeenTransactions {
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
