import type { AccountUpdate, Update } from '../geyser/update.ts';
import { sameState } from '../slots/repeats.ts';

/** What a stream beside the core has brought, by slot, until the core releases the slot. Pure: no clock, no I/O. */
export interface BesideSlots {
  /**
   * Takes one update. Answers an account state that is new where its slot was handed out before, so that it comes
   * late; null for all else.
   */
  take(update: Update): AccountUpdate | null;
  /** The highest slot of which everything is here; null before one is. */
  reached(): bigint | null;
  /** Hands out what is here of this slot and of those before it. */
  upTo(slot: bigint): AccountUpdate[];
  /** More is kept than may be. */
  overflowing(): boolean;
  forget(): void;
}

const MOST_BYTES = 64 * 1024 * 1024;
const OVERHEAD_BYTES = 512;

type States = Map<string, AccountUpdate>;

const keyOf = ({ address }: AccountUpdate) =>
  Buffer.from(address.buffer, address.byteOffset, address.length).toString('latin1');
const sizeOf = ({ data }: AccountUpdate) => data.length + OVERHEAD_BYTES;

/** @param reached where an earlier run has come to; a replay that begins there repeats what that one had. */
export function createBesideSlots(
  commitment: 'confirmed' | 'finalized',
  reached: bigint | null,
): BesideSlots {
  const pending = new Map<bigint, States>();
  const metas = new Set<bigint>();
  const standing = new Set<bigint>();
  let highest = reached;
  /** States of the highest slot that is whole; null where an earlier run had them. */
  let newest: States | null = null;
  let handedOut = reached ?? -1n;
  let bytes = 0;

  const complete = (slot: bigint) => {
    if (!metas.has(slot) || !standing.has(slot) || (highest !== null && slot <= highest)) return;
    highest = slot;
    newest = pending.get(slot) ?? new Map();
    if (slot > handedOut) pending.set(slot, newest);
    for (const set of [metas, standing]) for (const old of set) if (old <= slot) set.delete(old);
  };
  const takeAccount = (update: AccountUpdate): AccountUpdate | null => {
    const key = keyOf(update);
    if (update.slot === highest) {
      const known = newest?.get(key);
      if (newest === null || (known !== undefined && sameState(known, update))) return null;
    }
    if (update.slot <= handedOut) {
      if (update.slot === highest) newest?.set(key, update);
      return update;
    }
    const states: States = pending.get(update.slot) ?? new Map();
    pending.set(update.slot, states);
    const known = states.get(key);
    bytes += sizeOf(update) - (known === undefined ? 0 : sizeOf(known));
    states.set(key, update);
    return null;
  };

  return {
    take: (update) => {
      if (update.type === 'account') return takeAccount(update);
      if (update.type === 'blockMeta') metas.add(update.slot);
      else if (update.type !== 'slot') return null;
      else if (update.state === 'finalized' || update.state === commitment) standing.add(update.slot);
      else return null;
      complete(update.slot);
      return null;
    },
    reached: () => highest,
    upTo: (slot) => {
      const states: AccountUpdate[] = [];
      if (slot > handedOut) handedOut = slot;
      for (const at of [...pending.keys()].filter((one) => one <= slot).sort((a, b) => (a < b ? -1 : 1))) {
        for (const state of pending.get(at)?.values() ?? []) {
          bytes -= sizeOf(state);
          states.push(state);
        }
        pending.delete(at);
      }
      return states;
    },
    overflowing: () => bytes > MOST_BYTES,
    forget: () => {
      pending.clear();
      metas.clear();
      standing.clear();
      bytes = 0;
    },
  };
}
