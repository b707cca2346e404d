import type { LogRecord } from '../../schemas/records.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { legibility } from '../../schemas/transaction/legibility.ts';
import type { Gap } from '../history/gap.ts';
import type { GapCloser } from '../history/gap-closer.ts';
import { type CutLogsReader, mayBeCut } from './cut-logs.ts';
import type { TransactionUpdate, Update } from './geyser/update.ts';
import type { Sweeper } from './sweeps/sweep.ts';

type UnreadableUpdate = Extract<Update, { type: 'unreadable' }>;

export interface UnreadableOptions {
  gaps: Pick<GapCloser, 'add' | 'knows'>;
  sweeper: Pick<Sweeper, 'request' | 'reread'>;
  reread: Pick<CutLogsReader, 'add'>;
  /** Has all accounts read a little after that slot, once the chain is there. */
  readAll(slot: bigint): void;
  /** The slot released last; null before one. */
  last(): bigint | null;
  send(records: readonly LogRecord[]): Promise<void>;
  warn(what: { slot: string; signature?: string }, sentence: string): void;
}

/** Handles updates that cannot be read: what they are about is read over RPC, and counts as missing until then. */
export interface Unreadable {
  /** To be called before the marker of the transaction's slot is sent. */
  transaction(update: TransactionUpdate, blockTime: number | null): void;
  update(update: UnreadableUpdate): void;
  /** An unreadable update of the stream that follows these addresses, which has brought everything up to `reached`. */
  followedUpdate(addresses: readonly string[], slot: bigint, reached: bigint | null): void;
  /** To be called before the marker of the slot is sent. */
  released(slot: bigint): void;
}

/** How far the stream may be ahead of the last released slot: a hole is given up before so many slots wait. */
const REACH = 64n;
/** Updates of slots further ahead that are remembered. */
const MOST_FAR = 1_000;

const later = (a: bigint | null, b: bigint | null) => (a === null || (b !== null && b > a) ? b : a);

export function createUnreadable(options: UnreadableOptions): Unreadable {
  const { gaps, sweeper, reread, send, warn } = options;
  /**
   * Updates whose slot is not near, so that the number may be wrong. If the chain comes to that slot, they are taken to
   * be of it.
   */
  let far: Pick<UnreadableUpdate, 'of' | 'slot'>[] = [];
  /**
   * Slots of unreadable transactions that are near, and not released yet. Their gaps are opened at the release: opened
   * before, one could have the first slot of a wider gap.
   */
  const ahead = new Set<bigint>();
  /** Whether an account or a transaction came since the last release that may be of any slot that is not released. */
  const unplaced = { account: false, transaction: false };
  /** The slot that the stream had come to when it brought an unplaced account. */
  let reachedFar: bigint | null = null;

  const open = (gap: Gap) => {
    if (!gaps.knows(gap.fromSlot)) gaps.add(gap, () => send([{ kind: 'gap', ...gap, closed: false }]));
  };
  /** Opens a gap of that slot and the REACH slots after it: any of them may be the transaction's. */
  const openFrom = (slot: bigint) => {
    let fromSlot = slot;
    const toSlot = slot + REACH;
    // A known gap that begins here may be of this slot alone: the new one begins behind it.
    while (fromSlot < toSlot && gaps.knows(fromSlot)) fromSlot += 1n;
    open({ fromSlot, toSlot, toTime: null });
  };
  /**
   * Opens a gap of one slot: whom the transaction is about is not known, so nothing that the slot may have changed
   * counts as known.
   */
  const openSlot = (slot: bigint, toTime: number | null) => open({ fromSlot: slot, toSlot: slot, toTime });

  const readAgain = ({ of, slot }: Pick<UnreadableUpdate, 'of' | 'slot'>) => {
    if (of === 'account') sweeper.request(slot);
    else openSlot(slot, null);
  };
  /**
   * Whether the stream is near the slot. Otherwise no node is asked for it, for only unreadable bytes name it and the
   * chain may never come to it: the update is taken to be of any slot that may follow.
   */
  const isNear = (of: UnreadableUpdate['of'], slot: bigint, reached: bigint | null): boolean => {
    if (reached !== null && slot <= reached + REACH) return true;
    warn(
      { slot: slot.toString() },
      'an unreadable update names a slot far from the stream: its slot counts as unknown',
    );
    if (far.length < MOST_FAR) far.push({ of, slot });
    unplaced[of] = true;
    reachedFar = later(reachedFar, reached);
    return false;
  };
  const warnOf = ({ slot, of }: Pick<UnreadableUpdate, 'of' | 'slot'>) =>
    warn({ slot: slot.toString() }, `an update of the stream, of an ${of}, cannot be read`);

  return {
    transaction: (update, blockTime) => {
      const { slot, payload } = update;
      const legible = legibility({ format: 'geyser', payload });
      if (legible !== 'whole' || mayBeCut(payload)) reread.add(update, blockTime);
      if (legible === 'whole') return;
      const signature = encodeBase58(update.signature);
      warn({ slot: slot.toString(), signature }, 'a transaction of the stream cannot be read');
      if (legible === 'none') openSlot(slot, blockTime);
    },
    update: (update) => {
      const { of, slot } = update;
      warnOf(update);
      if (!isNear(of, slot, options.last())) return;
      if (of === 'transaction' && slot > (options.last() ?? slot)) ahead.add(slot);
      else readAgain(update);
    },
    followedUpdate: (addresses, slot, reached) => {
      warnOf({ of: 'account', slot });
      if (isNear('account', slot, later(options.last(), reached))) sweeper.reread(addresses, slot);
    },
    released: (slot) => {
      const come = far.filter((one) => one.slot <= slot);
      if (come.length > 0) far = far.filter((one) => one.slot > slot);
      if (unplaced.transaction) openFrom(slot);
      for (const one of come) readAgain(one);
      for (const one of ahead) {
        if (one > slot) continue;
        ahead.delete(one);
        openSlot(one, null);
      }
      if (unplaced.account) options.readAll((later(reachedFar, slot) ?? slot) + REACH);
      unplaced.account = false;
      unplaced.transaction = false;
      reachedFar = null;
    },
  };
}
