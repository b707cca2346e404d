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
  /** Has all accounts read a little behind that slot, once the chain is there. */
  readAll(slot: bigint): void;
  /** The slot released last; null before one. */
  last(): bigint | null;
  send(records: readonly LogRecord[]): Promise<void>;
  warn(what: { slot: string; signature?: string }, sentence: string): void;
}

/** What becomes of what the stream brought and nobody can read: it is read over RPC, and missing until then. */
export interface Unreadable {
  /** To be called before the transaction's slot is told to be whole. */
  transaction(update: TransactionUpdate, blockTime: number | null): void;
  update(update: UnreadableUpdate): void;
  /** Likewise of the stream that follows these addresses, which has brought everything up to that slot. */
  ofFollowed(addresses: readonly string[], slot: bigint, reached: bigint | null): void;
  /** To be called before a slot is told to be whole. */
  released(slot: bigint): void;
}

/** More slots than these do not wait to be released: a hole among them is given up before. */
const REACH = 64n;
/** Updates of slots further off that are remembered. */
const MOST_FAR = 1_000;

const later = (a: bigint | null, b: bigint | null) => (a === null || (b !== null && b > a) ? b : a);

export function createUnreadable(options: UnreadableOptions): Unreadable {
  const { gaps, sweeper, reread, send, warn } = options;
  /** They come before anything says that the chain has their slot: where it comes to it, that is what they are of. */
  let far: Pick<UnreadableUpdate, 'of' | 'slot'>[] = [];
  /** Slots of transactions that the stream is near to: a gap of one before its release could be the first slot of a wider. */
  const ahead = new Set<bigint>();
  /** Some came since the last release that may be of any slot that is not released. */
  const unplaced = { account: false, transaction: false };
  /** The slot that the stream of an unplaced account had come to. */
  let reachedFar: bigint | null = null;

  const open = (gap: Gap) => {
    if (!gaps.knows(gap.fromSlot)) gaps.add(gap, () => send([{ kind: 'gap', ...gap, closed: false }]));
  };
  /** What that slot and those behind it may have changed. */
  const openFrom = (slot: bigint) => {
    let fromSlot = slot;
    const toSlot = slot + REACH;
    // The gap of a slot may reach no further than that.
    while (fromSlot < toSlot && gaps.knows(fromSlot)) fromSlot += 1n;
    open({ fromSlot, toSlot, toTime: null });
  };
  /** Nobody knows whom it is about: nothing that the slot may have changed counts as known. */
  const openSlot = (slot: bigint, toTime: number | null) => open({ fromSlot: slot, toSlot: slot, toTime });

  const readAgain = ({ of, slot }: Pick<UnreadableUpdate, 'of' | 'slot'>) => {
    if (of === 'account') sweeper.request(slot);
    else openSlot(slot, null);
  };
  /** No node is asked for a slot that only such bytes tell of: it would be waited for, for ever perhaps. */
  const isNear = (of: UnreadableUpdate['of'], slot: bigint, reached: bigint | null): boolean => {
    if (reached !== null && slot <= reached + REACH) return true;
    warn(
      { slot: slot.toString() },
      'the stream is not near to that slot: it is taken to be of any that may follow',
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
    ofFollowed: (addresses, slot, reached) => {
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
