import { messageOf } from '../../runtime/errors.ts';
import { createBucket } from '../../runtime/outside/bucket.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import type { Commitment, Rpc } from '../../runtime/rpc/rpc.ts';
import type { StruckTransaction } from '../../schemas/records.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import type { Gap } from '../history/gap.ts';
import type { UnreadGap } from '../history/read-history.ts';
import type { LogWriter } from '../log/port.ts';
import { type AccountRereader, createPendingRereads, type PendingRereads } from './account-rereads.ts';
import { assertNotOnChainInEveryRound } from './assert-not-on-chain.ts';
import { budgeted } from './budgeted.ts';
import { decideDispute } from './decide-disputes.ts';
import { BEFORE_ALL, createLateSlots, type LateSlots } from './late-slots.ts';
import { createOpenSlots, type OpenSlots } from './open-slots.ts';
import { readMissing } from './read-missing.ts';
import { settleDoubts } from './settle-doubts.ts';
import { BEHIND_TIP, differenceOf, listWindow, type PlacedTransaction } from './verify-window.ts';
import { createWindowReader } from './window-reader.ts';

/** What is stored, as far as the comparison with the chain needs it. */
export interface VerificationStore {
  /** Everything up to here was compared; null before anything was. */
  verifiedSlot(): Promise<bigint | null>;
  /** The first slot from `from` on that has an event. */
  nextSlot(from: bigint): Promise<bigint | null>;
  signatureBehind(slot: bigint): Promise<string | null>;
  storedBetween(from: bigint, to: bigint): Promise<PlacedTransaction[]>;
  /** What is to be struck out of the index together with these transactions. */
  tracesOf(ghosts: readonly PlacedTransaction[]): Promise<StruckTransaction[]>;
  /** Slots of transactions that the stream told two versions of, still undecided; the lowest `most` of them. */
  disputedSlots(most: number): Promise<bigint[]>;
}

export interface VerifyOptions {
  rpc: Rpc;
  /** What `rpc` reads at: how deep a slot has to lie to be compared follows from it. */
  commitment: Commitment;
  /** The client for requests about what is to be struck out; default: `rpc`. */
  ghostsRpc?: Rpc;
  log: Pick<LogWriter, 'append'>;
  programId: string;
  startSlot: bigint;
  store: VerificationStore;
  /** The lowest marker that is applied. */
  applied(): Promise<bigint | null>;
  openGaps(): Promise<Gap[]>;
  late?: LateSlots;
  open?: OpenSlots;
  accounts?: AccountRereader;
  logger: Logger;
  signal: AbortSignal;
  everyMs?: number;
  onVerified?: (found: Verified) => void;
  /** Told of the gaps of one slot that unreadable transactions keep, once the log has them. */
  onUnread?: (gap: UnreadGap) => void;
}

export interface Verified {
  slot: bigint;
  /** Transactions that were missing, or disputed, and are read now. */
  read: number;
  /** Transactions that the chain does not have, or that failed there. */
  struck: number;
  /** More than this can be compared already. */
  more: boolean;
}

/** Half an hour of the chain. */
const WINDOW = 5_000n;
/**
 * Slots that a new process compares again of those that an earlier one has compared: what came late for them just
 * before that one ended is not remembered.
 */
const AGAIN = 300n;
const REQUESTS_PER_SECOND = 2;
/** Requests about what is to be struck out: there is seldom any, and each is asked for many times. */
const OF_GHOSTS_PER_SECOND = 20;
const BURST = 20;
const EVERY_MS = 30_000;
/**
 * The pause at the tip: without it each slot would be a window of its own, with six queries to the store and two
 * requests to the node. The rounds of `assertNotOnChainInEveryRound` lie as far apart.
 */
const AT_TIP_MS = 5_000;

/**
 * Compares what is stored with what lies deep enough in the chain to stay, window by window, until the signal aborts: what is missing
 * is read, what the chain does not have is struck out. It goes on behind the slot that the log was last told to be
 * verified.
 */
export async function verifyForever(options: VerifyOptions): Promise<void> {
  const { store, logger, signal, late = createLateSlots(), everyMs = EVERY_MS } = options;
  const open = createOpenSlots(late);
  let isRecalled = false;
  const rpc = budgeted(options.rpc, createBucket(REQUESTS_PER_SECOND, BURST), signal);
  const ghostsRpc = budgeted(options.rpc, createBucket(OF_GHOSTS_PER_SECOND, BURST), signal);
  /** The verified slot that was told and may not be applied yet. */
  let told: bigint | null = null;
  while (!signal.aborted) {
    let restMs = everyMs;
    try {
      if (!isRecalled) await recall(store, late);
      isRecalled = true;
      const done = await verifyNext({ ...options, rpc, ghostsRpc, late, open }, told);
      if (done !== null) {
        told = done.slot;
        options.onVerified?.(done);
        if (done.read + done.struck > 0)
          logger.error(
            { ...done, slot: done.slot.toString() },
            'stored transactions differed from the chain and were corrected',
          );
        if (done.more) continue;
        restMs = Math.min(AT_TIP_MS, everyMs);
      }
    } catch (error) {
      if (signal.aborted) return;
      logger.warn({ error: messageOf(error) }, 'not compared with the chain now; trying again');
    }
    await pause(restMs, signal);
  }
}

const MOST_RECALLED = 1_000;

/** Has the slots compared again in which an earlier process left a disputed transaction undecided. */
export async function recall(store: VerificationStore, late: LateSlots): Promise<void> {
  const disputed = await store.disputedSlots(MOST_RECALLED);
  if (disputed.length === 0) return;
  for (const slot of disputed) late.add(slot, BEFORE_ALL);
  // These slots are compared first, and the place where a new process begins would be passed over: it is added, too.
  const from = await store.verifiedSlot();
  if (from !== null) late.add(from < AGAIN ? BEFORE_ALL : from + 1n - AGAIN, BEFORE_ALL);
}

/** Verifies the next window; null where there is none yet. @throws RpcError, HistoryUnavailableError */
export async function verifyNext(options: VerifyOptions, told: bigint | null): Promise<Verified | null> {
  const window = await nextWindow(options, told);
  if (window === null || options.signal.aborted) return null;
  const again = createPendingRereads(options.accounts);
  try {
    return await verifyWindow(options, window, again);
  } finally {
    // Also where it broke off: what was mended by then is no difference any more, and would not be found again.
    again.flush(window.toSlot);
  }
}

async function verifyWindow(
  options: VerifyOptions,
  window: Window,
  again: PendingRereads,
): Promise<Verified> {
  const { rpc, log, programId, store, open, signal } = options;
  const { fromSlot, toSlot, slot, marker, more } = window;
  const behind = await store.signatureBehind(toSlot);
  const isClosed = (one: { slot: bigint }) => !window.open.has(one.slot);
  const where = { rpc, programId, fromSlot, toSlot, behind, signal, commitment: options.commitment };
  const all = await listWindow(where);
  const listed = all.filter(isClosed);
  const stored = (await store.storedBetween(fromSlot, toSlot)).filter(isClosed);
  const { missing, ghosts, doubted, disputed } = differenceOf(listed, stored);
  const apartMs = Math.min(AT_TIP_MS, options.everyMs ?? EVERY_MS);
  await assertNotOnChainInEveryRound(ghosts, listed.length, {
    ...where,
    rpc: options.ghostsRpc ?? rpc,
    apartMs,
  });
  const onUnread = (gap: UnreadGap) => {
    open?.onLogged(gap.fromSlot);
    options.onUnread?.(gap);
  };
  const read = createWindowReader({ rpc, log, listed: all, behind, signal, onUnread });
  const program = decodeKey(programId) as Uint8Array;
  let mended = await readMissing({ log, missing, listed, open, again, toSlot }, read);
  const settled = await settleDoubts(doubted, read);
  if (settled.succeeded.length + disputed.length > 0) again.addAll();
  if (settled.succeeded.length > 0) await log.append(settled.succeeded);
  mended += settled.succeeded.length;
  for (const one of disputed) {
    const decided = await decideDispute(one, program, read);
    if (decided === null) continue;
    await log.append([decided]);
    mended += 1;
  }
  const gone = [...ghosts, ...settled.failed];
  const struck = gone.length === 0 ? [] : await store.tracesOf(gone);
  // One that failed wrote nothing, in whichever version of its slot.
  if (gone.some(({ outcome }) => outcome !== 'failed')) again.addAll();
  // What was missing, or the gap that it keeps, is acknowledged before anything says that all is there.
  await log.append([{ kind: 'verified', slot, struck }]);
  options.late?.compared(toSlot, marker);
  open?.compared(fromSlot, toSlot);
  return { slot, read: mended, struck: gone.length, more };
}

interface Window {
  fromSlot: bigint;
  toSlot: bigint;
  /** The slot up to which everything is verified once the window is. */
  slot: bigint;
  /** The lowest applied marker. */
  marker: bigint;
  /** Slots that gaps of their own keep open: they are compared once those are closed. */
  open: ReadonlySet<bigint>;
  more: boolean;
}

async function nextWindow(
  { rpc, commitment, store, startSlot, applied, openGaps, late, open }: VerifyOptions,
  told: bigint | null,
): Promise<Window | null> {
  const [stored, marker, gaps] = await Promise.all([store.verifiedSlot(), applied(), openGaps()]);
  if (marker === null) return null;
  const ofOne = new Set(gaps.filter(isOfOne).map((gap) => gap.fromSlot));
  const from = higher(told, stored);
  open?.setOpen(ofOne, from);
  const first = from === null ? startSlot : from + 1n - (told === null ? AGAIN : 0n);
  const again = late?.lowest(marker) ?? first;
  const fromSlot = higher(again < first ? again : first, startSlot) as bigint;
  const highest = await rpc.getSlot();
  const next = await store.nextSlot(fromSlot);
  // Slots without events come on top: a window ends WINDOW slots after the next event, or at the tip.
  const ends = gaps.filter((gap) => !isOfOne(gap)).map((gap) => gap.fromSlot - 1n);
  const tip = [marker, highest - BEHIND_TIP[commitment], ...ends].reduce(lower);
  const toSlot = next === null ? tip : lower(tip, next + WINDOW);
  if (toSlot < fromSlot) return null;
  return { fromSlot, toSlot, slot: higher(toSlot, from) as bigint, marker, open: ofOne, more: toSlot < tip };
}

/**
 * A gap of one slot, as an unreadable transaction keeps, for ever where no node can tell it: later slots do not wait
 * for it.
 */
const isOfOne = ({ fromSlot, toSlot }: Gap) => fromSlot === toSlot;

function higher(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

const lower = (a: bigint, b: bigint): bigint => (a < b ? a : b);
