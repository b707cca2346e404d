import { byteKey } from '../../../schemas/solana/byte-key.ts';
import type { AccountUpdate, TransactionUpdate } from '../geyser/update.ts';

/** A slot that is not released yet, and what has come of it. */
export interface Pending {
  slot: bigint;
  meta: { parent: bigint; blockTime: number | null } | null;
  confirmed: boolean;
  accounts: Map<string, AccountUpdate>;
  transactions: Map<string, TransactionUpdate>;
}

/** The slots that wait to be released. */
export interface PendingSlots {
  /** The entry of a slot, added where there is none. */
  at(slot: bigint): Pending;
  /** Keeps the last state of each account in the slot, and the last version of each transaction. */
  put(update: AccountUpdate | TransactionUpdate): void;
  /**
   * Slots with a block meta that have reached the commitment, ascending; a slot that has reached it brings its
   * ancestors there.
   */
  ready(): Pending[];
  forget(slot: bigint): void;
  forgetUpTo(slot: bigint): void;
  clear(): void;
  size(): number;
  /** Approximate bytes of their updates. */
  bytes(): number;
}

const sizeOf = (update: AccountUpdate | TransactionUpdate) =>
  (update.type === 'account' ? update.data.length : update.payload.length) + 512;

/**
 * Marks the update as disputed where its payload differs from the one before: a slot that was made twice may have
 * executed the transaction twice, with different results.
 */
const disputedBy = (before: TransactionUpdate, update: TransactionUpdate): TransactionUpdate =>
  before.disputed === true || Buffer.compare(before.payload, update.payload) !== 0
    ? { ...update, disputed: true }
    : update;

export function createPendingSlots(): PendingSlots {
  const all = new Map<bigint, Pending>();
  let bytes = 0;

  const at = (slot: bigint): Pending => {
    const known = all.get(slot);
    if (known !== undefined) return known;
    const made = { slot, meta: null, confirmed: false, accounts: new Map(), transactions: new Map() };
    all.set(slot, made);
    return made;
  };
  const forget = (slot: bigint): void => {
    const pending = all.get(slot);
    if (pending === undefined) return;
    for (const update of pending.accounts.values()) bytes -= sizeOf(update);
    for (const update of pending.transactions.values()) bytes -= sizeOf(update);
    all.delete(slot);
  };

  return {
    at,
    put: (update) => {
      const pending = at(update.slot);
      if (update.type === 'transaction') {
        const key = byteKey(update.signature);
        const before = pending.transactions.get(key);
        bytes += sizeOf(update) - (before === undefined ? 0 : sizeOf(before));
        pending.transactions.set(key, before === undefined ? update : disputedBy(before, update));
        return;
      }
      const key = byteKey(update.address);
      const known = pending.accounts.get(key);
      if (known !== undefined && known.writeVersion > update.writeVersion) return;
      bytes += sizeOf(update) - (known === undefined ? 0 : sizeOf(known));
      pending.accounts.set(key, update);
    },
    ready: () => {
      const standing = [...all.values()].filter(({ confirmed }) => confirmed);
      for (let next = 0; next < standing.length; next += 1) {
        const parent = standing[next]?.meta?.parent;
        const ancestor = parent === undefined ? undefined : all.get(parent);
        if (ancestor === undefined || ancestor.confirmed) continue;
        ancestor.confirmed = true;
        standing.push(ancestor);
      }
      return standing
        .filter(({ meta }) => meta !== null)
        .sort((a, b) => (a.slot < b.slot ? -1 : a.slot > b.slot ? 1 : 0));
    },
    forget,
    forgetUpTo: (slot) => {
      for (const pending of all.values()) if (pending.slot <= slot) forget(pending.slot);
    },
    clear: () => {
      all.clear();
      bytes = 0;
    },
    size: () => all.size,
    bytes: () => bytes,
  };
}
