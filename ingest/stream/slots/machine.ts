import { type AccountUpdate, isParentless, type TransactionUpdate, type Update } from '../geyser/update.ts';
import { createBlockhashes } from './blockhashes.ts';
import { createPendingSlots } from './pending.ts';
import { createRepeats } from './repeats.ts';
import { createSeenTransactions } from './seen-transactions.ts';

/** A slot that is complete and has reached the commitment, with the last state of each account in it. */
export interface ReleasedSlot {
  slot: bigint;
  parent: bigint;
  blockTime: number | null;
  accounts: AccountUpdate[];
  transactions: TransactionUpdate[];
}

export type SlotsOutput =
  | { type: 'released'; slot: ReleasedSlot }
  /** The slot at which a stream without replay begins; its own records may be incomplete and are not released. */
  | { type: 'begun'; slot: bigint; blockTime: number | null }
  /** An update of a slot that was released before; `blockTime` where it is still remembered. */
  | { type: 'late'; update: AccountUpdate | TransactionUpdate; blockTime: number | null }
  /** A second block was told for the slot: records that came for it may be of either block. */
  | { type: 'madeTwice'; slot: bigint };

export interface SlotsLimits {
  maxPendingBytes: number;
  maxPendingSlots: number;
  /** Block times of released slots that are remembered for late updates. */
  rememberedSlots: number;
}

const DEFAULT_LIMITS: SlotsLimits = {
  maxPendingBytes: 256 * 1024 * 1024,
  maxPendingSlots: 5_000,
  rememberedSlots: 4096,
};

/**
 * Orders what the stream brings. A slot is released once its block meta is here and it, or a descendant, has reached
 * the commitment, and its parent was released before it. Pure: no clock, no I/O.
 */
export class Slots {
  readonly #commitment: 'confirmed' | 'finalized';
  readonly #limits: SlotsLimits;
  readonly #pending = createPendingSlots();
  readonly #times = new Map<bigint, number | null>();
  readonly #blockhashes;
  #last: bigint | null;
  readonly #repeats = createRepeats();
  readonly #told = createSeenTransactions();
  /** Nothing above this slot is released; null: everything may be. */
  #ceiling: bigint | null = null;
  #held = 0;
  #highest = 0n;

  /** @param last the slot released last, on which the next must follow; null: the first complete slot becomes it. */
  constructor(commitment: 'confirmed' | 'finalized', last: bigint | null, limits: Partial<SlotsLimits> = {}) {
    this.#commitment = commitment;
    this.#last = last;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#blockhashes = createBlockhashes(this.#limits.rememberedSlots);
  }

  /** The slot released last. */
  get last(): bigint | null {
    return this.#last;
  }

  /**
   * The highest slot of which a record, a block meta or the commitment came; one that is merely processed may be a
   * fork.
   */
  get highest(): bigint {
    return this.#highest;
  }

  /** Slots that could be released and are held back. */
  get held(): number {
    return this.#held;
  }

  /** Whether more waits than is allowed: the stream is to be cancelled and replayed from the last released slot. */
  get overflowing(): boolean {
    const { maxPendingBytes, maxPendingSlots } = this.#limits;
    return this.#pending.bytes() > maxPendingBytes || this.#pending.size() > maxPendingSlots;
  }

  /**
   * Where a complete slot waits for a parent that is not here: the missing slots up to that parent. Null where nothing
   * waits. `toTime` is the block time of the slot that waits.
   */
  missing(): { fromSlot: bigint; toSlot: bigint; toTime: number | null; waiting: number } | null {
    if (this.#last === null) return null;
    const ready = this.#pending.ready();
    const first = ready[0];
    if (first === undefined || first.meta === null || first.meta.parent <= this.#last) return null;
    const { parent, blockTime } = first.meta;
    return { fromSlot: this.#last + 1n, toSlot: parent, toTime: blockTime, waiting: ready.length };
  }

  /**
   * Holds back slots above `ceiling`, the slot that another stream has come to; null: nothing is held back. Answers
   * what this sets free.
   */
  hold(ceiling: bigint | null): SlotsOutput[] {
    this.#ceiling = ceiling;
    return this.#release();
  }

  /** Gives an interval up as a gap: the next slot to release follows on `slot`. */
  skipTo(slot: bigint): SlotsOutput[] {
    this.#last = slot;
    this.#repeats.forget();
    this.#pending.forgetUpTo(slot);
    return this.#release();
  }

  /** Forgets what is pending: the stream starts again at the last released slot, whose records come once more. */
  restart(): void {
    this.#pending.clear();
    this.#held = 0;
    this.#highest = this.#last ?? 0n;
  }

  /**
   * Forgets the last released slot too: the next complete slot is a new beginning. @param refused outputs whose block
   * times are forgotten as well
   */
  beginAnew(refused: readonly SlotsOutput[] = []): void {
    for (const output of refused) {
      if (output.type === 'begun') this.#times.delete(output.slot);
      if (output.type === 'released') this.#times.delete(output.slot.slot);
    }
    this.restart();
    this.#last = null;
    this.#repeats.forget();
  }

  /** Takes one update; answers what it sets free, in order. */
  take(update: Update): SlotsOutput[] {
    if (update.type === 'ping' || update.type === 'other' || update.type === 'unreadable') return [];
    const isRelease = update.type !== 'slot' || this.#reaches(update.state);
    if (isRelease && update.slot > this.#highest) this.#highest = update.slot;
    if (update.type === 'account' || update.type === 'transaction') return this.#takeRecord(update);
    const outputs: SlotsOutput[] = [];
    if (update.type === 'blockMeta' && update.blockhash !== undefined)
      if (this.#blockhashes.differsFromSeen(update.slot, update.blockhash))
        outputs.push({ type: 'madeTwice', slot: update.slot });
    return [...outputs, ...this.#takeNotice(update)];
  }

  #takeNotice(update: Extract<Update, { type: 'slot' | 'blockMeta' }>): SlotsOutput[] {
    if (this.#last !== null && update.slot <= this.#last) return [];
    if (update.type === 'slot' && update.state === 'dead') {
      this.#pending.forget(update.slot);
      return [];
    }
    // No parent is a later slot: a slot whose meta says so is never whole, and becomes a gap for the slots that stand
    // on it.
    if (update.type === 'blockMeta' && update.parent >= update.slot && update.slot > 0n) return [];
    if (update.type === 'blockMeta' && isParentless(update)) return [];
    const pending = this.#pending.at(update.slot);
    if (update.type === 'blockMeta') pending.meta = { parent: update.parent, blockTime: update.blockTime };
    else if (this.#reaches(update.state)) pending.confirmed = true;
    else return [];
    return this.#release();
  }

  #takeRecord(update: AccountUpdate | TransactionUpdate): SlotsOutput[] {
    if (this.#last !== null && update.slot <= this.#last) {
      if (update.slot === this.#last && this.#repeats.has(update)) return [];
      return this.#takeLate(update, this.#times.get(update.slot) ?? null);
    }
    this.#pending.put(update);
    return [];
  }

  #takeLate(update: AccountUpdate | TransactionUpdate, blockTime: number | null): SlotsOutput[] {
    if (update.type === 'account') return [{ type: 'late', update, blockTime }];
    const beside = this.#told.take(update);
    if (beside === 'again') return [];
    return [{ type: 'late', update: beside === 'new' ? update : { ...update, disputed: true }, blockTime }];
  }

  #reaches(state: string): boolean {
    return state === 'finalized' || (state === 'confirmed' && this.#commitment === 'confirmed');
  }

  #release(): SlotsOutput[] {
    const outputs: SlotsOutput[] = [];
    const ready = this.#pending.ready();
    this.#held = 0;
    for (const [at, pending] of ready.entries()) {
      const { slot, meta } = pending;
      if (meta === null) break;
      if (this.#last === null) {
        // Records of the first slot may have come before the stream began.
        this.#repeats.forget();
        this.#remember(slot, meta.blockTime);
        outputs.push({ type: 'begun', slot, blockTime: meta.blockTime });
        continue;
      }
      if (slot <= this.#last || meta.parent < this.#last) {
        this.#pending.forget(slot);
        continue;
      }
      if (meta.parent !== this.#last) break;
      if (this.#ceiling !== null && slot > this.#ceiling) {
        this.#held = ready.length - at;
        break;
      }
      const accounts = [...pending.accounts.values()];
      const transactions = [...pending.transactions.values()].sort((a, b) => a.index - b.index);
      this.#repeats.released([...accounts, ...transactions]);
      for (const transaction of transactions) this.#told.take(transaction);
      this.#remember(slot, meta.blockTime);
      const { parent, blockTime } = meta;
      outputs.push({ type: 'released', slot: { slot, parent, blockTime, accounts, transactions } });
      this.#pending.forgetUpTo(slot);
    }
    return outputs;
  }

  #remember(slot: bigint, blockTime: number | null): void {
    this.#last = slot;
    this.#times.set(slot, blockTime);
    if (this.#times.size > this.#limits.rememberedSlots) {
      this.#times.delete(this.#times.keys().next().value as bigint);
    }
    this.#pending.forgetUpTo(slot);
  }

  /** The last slot whose block time is known; where none is, the last released slot without a time. */
  place(): { slot: bigint; time: number | null } | null {
    const [slot, time] = [...this.#times].findLast(([, known]) => known !== null) ?? [this.#last, null];
    return slot === null ? null : { slot, time };
  }

  /** Block time of a slot that was released or taken as the start; null where it is not remembered. */
  timeOf(slot: bigint): number | null {
    return this.#times.get(slot) ?? null;
  }
}
