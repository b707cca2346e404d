import { byteKey } from '../../../schemas/solana/byte-key.ts';
import type { AccountUpdate, TransactionUpdate } from '../geyser/update.ts';

type Update = AccountUpdate | TransactionUpdate;

/** The records released of the last slot, to recognise them when a replay brings them again. */
export interface Repeats {
  released(updates: readonly Update[]): void;
  /** What was released is not known: every update of the slot counts as a repeat. */
  forget(): void;
  has(update: Update): boolean;
}

const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;
const keyOf = (update: Update) => byteKey(update.type === 'account' ? update.address : update.signature);

/** Whether two updates say the same of an account; write versions of two connections do not compare. */
export const sameState = (a: AccountUpdate, b: AccountUpdate): boolean =>
  a.lamports === b.lamports && same(a.owner, b.owner) && same(a.data, b.data);

export function createRepeats(): Repeats {
  let known: Map<string, Update> | null = null;
  return {
    released: (updates) => {
      known = new Map(updates.map((update) => [keyOf(update), update]));
    },
    forget: () => {
      known = null;
    },
    has: (update) => {
      if (known === null) return true;
      const before = known.get(keyOf(update));
      if (before?.type === 'account' && update.type === 'account') return sameState(before, update);
      if (before?.type !== 'transaction' || update.type !== 'transaction') return false;
      return same(before.payload, update.payload);
    },
  };
}
