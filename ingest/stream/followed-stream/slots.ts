import { byteKey } from '../../../schemas/solana/byte-key.ts';
import type { AccountUpdate, Update } from '../geyser/update.ts';
import { sameState } from '../slots/repeats.ts';

/** What a stream beside the core has brought, by slot, until the core releases the slot. Pure: no clock, no I/O. */
export interface FollowedSlots {
  /** A new stream begins: write versions compare within one stream alone. */
  begun(): void;
  /** Takes one update. Answers the states that come late: their slot was handed out before, and its time is known. */
  take(update: Update): AccountUpdate[];
  /** Unix seconds of a slot that this stream has told of; null where it is not remembered, or nobody knows it. */
  timeOf(slot: bigint): number | null;
  /** The highest slot of which everything is here, or will not come; null before one is. */
  reached(): bigint | null;
  /** Runs of slots that were left out, each answered once: `after` is the slot before the run, `to` its last slot. */
  holes(): Hole[];
  /** Everything is known up to this slot, from elsewhere. */
  skipTo(slot: bigint): void;
  /** Hands out what is here of this slot and of those before it. */
  upTo(slot: bigint): AccountUpdate[];
  /** Whether more is kept than is allowed. */
  overflowing(): boolean;
  forget(): void;
}

export interface Hole {
  after: bigint;
  to: bigint;
}

/** Whole slots that wait for a slot they stand on, until that one counts as left out. */
const HOLE_AFTER_SLOTS = 4;
const MOST_BYTES = 64 * 1024 * 1024;
const OVERHEAD_BYTES = 512;
const REMEMBERED_SLOTS = 4_096;

type Meta = Extract<Update, { type: 'blockMeta' }>;
type States = Map<string, AccountUpdate>;

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : 1);
const sizeOf = ({ data }: AccountUpdate) => data.length + OVERHEAD_BYTES;

/**
 * @param reached where an earlier run has come to; a replay that begins there repeats what that run had.
 * @param released the slot that the core has released last, which may be a later one.
 * @param isDated whether the time of a slot is known from elsewhere.
 */
export function createFollowedSlots(
  commitment: 'confirmed' | 'finalized',
  reached: bigint | null,
  released: bigint | null = reached,
  isDated: (slot: bigint) => boolean = () => true,
): FollowedSlots {
  const times = new Map<bigint, number | null>();
  /** States that came late for slots whose time nobody knows before their meta comes. */
  const undated = new Map<bigint, AccountUpdate[]>();
  const pending = new Map<bigint, States>();
  /** The slots whose meta is here, each with the slot that it stands on. */
  const metas = new Map<bigint, bigint>();
  const standing = new Set<bigint>();
  let highest = reached;
  /** Updates of the current stream: another server counts write versions from another number. */
  let ofThisStream = new WeakSet<AccountUpdate>();
  /** States of the highest slot that is whole; null where an earlier run had them. */
  let newest: States | null = null;
  let handedOut = released ?? -1n;
  let bytes = 0;
  const holes: Hole[] = [];

  const isAhead = (slot: bigint) => highest === null || slot > highest;
  const reach = (slot: bigint) => {
    highest = slot;
    newest = pending.get(slot) ?? new Map();
    if (slot > handedOut) pending.set(slot, newest);
    for (const set of [metas, standing]) for (const old of set.keys()) if (old <= slot) set.delete(old);
  };
  /** The first slot below this one whose meta is missing; null where none is, down to the highest whole slot. */
  const lackingBelow = (slot: bigint): bigint | null => {
    let parent = metas.get(slot) ?? 0n;
    while (highest !== null && parent > highest) {
      const next = metas.get(parent);
      if (next === undefined) return parent;
      parent = next;
    }
    return null;
  };
  const complete = () => {
    const whole = [...metas.keys()].filter((slot) => standing.has(slot) && isAhead(slot)).sort(ascending);
    for (const [at, slot] of whole.entries()) {
      const lacking = lackingBelow(slot);
      if (lacking !== null) {
        if (whole.length - at < HOLE_AFTER_SLOTS) return;
        holes.push({ after: highest as bigint, to: lacking });
      }
      reach(slot);
    }
  };
  const drop = (slot: bigint) => {
    for (const state of pending.get(slot)?.values() ?? []) bytes -= sizeOf(state);
    for (const known of [pending, undated, metas, standing]) known.delete(slot);
  };
  const isBefore = (update: AccountUpdate, known: AccountUpdate) =>
    ofThisStream.has(known) && update.writeVersion < known.writeVersion;
  const late = (update: AccountUpdate): AccountUpdate[] => {
    if (times.has(update.slot) || isDated(update.slot)) return [update];
    undated.set(update.slot, [...(undated.get(update.slot) ?? []), update]);
    return [];
  };
  const takeMeta = ({ slot, parent, blockTime }: Meta): AccountUpdate[] => {
    // No parent is a later slot: such a meta is not used.
    if (parent < slot || parent === 0n) metas.set(slot, parent);
    times.set(slot, blockTime);
    if (times.size > REMEMBERED_SLOTS) times.delete(times.keys().next().value as bigint);
    const dated = undated.get(slot) ?? [];
    undated.delete(slot);
    return dated;
  };
  const takeAccount = (update: AccountUpdate): AccountUpdate[] => {
    const isOfHighest = update.slot === highest;
    if (isOfHighest && newest === null) return [];
    const key = byteKey(update.address);
    const known = (isOfHighest ? newest : pending.get(update.slot))?.get(key);
    if (known !== undefined && isBefore(update, known)) return [];
    ofThisStream.add(update);
    if (update.slot <= handedOut) {
      if (isOfHighest) newest?.set(key, update);
      return isOfHighest && known !== undefined && sameState(known, update) ? [] : late(update);
    }
    const states: States = pending.get(update.slot) ?? new Map();
    pending.set(update.slot, states);
    bytes += sizeOf(update) - (known === undefined ? 0 : sizeOf(known));
    states.set(key, update);
    return [];
  };

  return {
    begun: () => {
      ofThisStream = new WeakSet();
    },
    take: (update) => {
      if (update.type === 'account') return takeAccount(update);
      if (update.type !== 'blockMeta' && update.type !== 'slot') return [];
      const dated = update.type === 'blockMeta' ? takeMeta(update) : [];
      if (update.type === 'slot') {
        if (update.state === 'dead' && isAhead(update.slot)) drop(update.slot);
        if (update.state !== 'finalized' && update.state !== commitment) return [];
        standing.add(update.slot);
      }
      complete();
      return dated;
    },
    timeOf: (slot) => times.get(slot) ?? null,
    reached: () => highest,
    holes: () => holes.splice(0),
    skipTo: (slot) => {
      if (highest !== null && slot <= highest) return;
      highest = slot;
      newest = null;
    },
    upTo: (slot) => {
      const states: AccountUpdate[] = [];
      if (slot > handedOut) handedOut = slot;
      for (const at of [...pending.keys()].filter((one) => one <= slot).sort(ascending)) {
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
      // States that the core has not released yet are dropped, too: their slots are not reached any more.
      if (highest !== null && highest > handedOut) {
        highest = handedOut < 0n ? null : handedOut;
        newest = null;
      }
      pending.clear();
      undated.clear();
      metas.clear();
      standing.clear();
      bytes = 0;
    },
  };
}
