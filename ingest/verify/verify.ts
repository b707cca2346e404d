import { messageOf } from '../../runtime/errors.ts';
import { createBucket } from '../../runtime/outside/bucket.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import type { StruckTransaction, TransactionRecord, UnseenRecord } from '../../schemas/records.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { type Gap, HistoryUnavailableError } from '../history/gap.ts';
import { readListed } from '../history/read-transaction.ts';
import type { LogWriter } from '../log/port.ts';
import { type AccountsAgain, createFoundAgain, type FoundAgain } from './accounts-again.ts';
import { decideDispute } from './decide-disputes.ts';
import { createLateSlots, type LateSlots } from './late-slots.ts';
import { settleDoubts } from './settle-doubts.ts';
import { differenceOf, listWindow, mustBeGhosts, type PlacedTransaction } from './verify-window.ts';

/** What is stored, as far as it is to be compared with the chain. */
export interface VerificationStore {
  /** Everything up to here was compared; null before anything was. */
  verifiedSlot(): Promise<bigint | null>;
  /** The first slot from there on that has an event. */
  nextSlot(from: bigint): Promise<bigint | null>;
  signatureBehind(slot: bigint): Promise<string | null>;
  storedBetween(from: bigint, to: bigint): Promise<PlacedTransaction[]>;
  /** What is to be struck out of the index with these. */
  tracesOf(ghosts: readonly PlacedTransaction[]): Promise<StruckTransaction[]>;
  /** Slots of transactions that the stream told two things of, and nobody has decided; the lowest, so many at most. */
  disputedSlots(most: number): Promise<bigint[]>;
}

export interface VerifyOptions {
  rpc: Rpc;
  log: Pick<LogWriter, 'append'>;
  programId: string;
  startSlot: bigint;
  store: VerificationStore;
  /** The lowest marker that is applied. */
  applied(): Promise<bigint | null>;
  openGaps(): Promise<Gap[]>;
  late?: LateSlots;
  accounts?: AccountsAgain;
  logger: Logger;
  signal: AbortSignal;
  everyMs?: number;
  onVerified?: (found: Verified) => void;
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

/** Behind what is final, for the index of a node to be whole. */
const BEHIND_FINAL = 32n;
/** Half an hour of the chain. */
const WINDOW = 5_000n;
/** Before what an earlier run has compared: what came late for these slots just before it ended nobody remembers. */
const AGAIN = 300n;
/** Whatever is applied, that is behind it. */
const BEFORE_ALL = 0n;
const REQUESTS_PER_SECOND = 2;
const BURST = 20;
const EVERY_MS = 30_000;
/** At the tip each slot would be a window of its own else, with six questions to the store and two to the node. */
const AT_TIP_MS = 5_000;

/**
 * Compares what is stored with what is final on the chain, window by window, until the signal is given: what is missing
 * is read, what the chain does not have is struck out. Its place is what the log was told to be verified.
 */
export async function verifyForever(options: VerifyOptions): Promise<void> {
  const { store, logger, signal, late = createLateSlots(), everyMs = EVERY_MS } = options;
  let isRecalled = false;
  const rpc = budgeted(options.rpc, signal);
  /** What was told and may not be applied yet. */
  let told: bigint | null = null;
  while (!signal.aborted) {
    let restMs = everyMs;
    try {
      if (!isRecalled) await recall(store, late);
      isRecalled = true;
      const done = await verifyNext({ ...options, rpc, late }, told);
      if (done !== null) {
        told = done.slot;
        options.onVerified?.(done);
        if (done.read + done.struck > 0)
          logger.error(
            { ...done, slot: done.slot.toString() },
            'what is stored was not what the chain says; mended',
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

/** Has the slots compared again of which an earlier process did not decide all that the stream told two things of. */
export async function recall(store: VerificationStore, late: LateSlots): Promise<void> {
  const disputed = await store.disputedSlots(MOST_RECALLED);
  if (disputed.length === 0) return;
  for (const slot of disputed) late.add(slot, BEFORE_ALL);
  // They come first, and would stand for what a process begins with.
  const from = await store.verifiedSlot();
  if (from !== null) late.add(from < AGAIN ? BEFORE_ALL : from + 1n - AGAIN, BEFORE_ALL);
}

/** Verifies the next window; null where there is none yet. @throws RpcError, HistoryUnavailableError */
export async function verifyNext(options: VerifyOptions, told: bigint | null): Promise<Verified | null> {
  const window = await nextWindow(options, told);
  if (window === null || options.signal.aborted) return null;
  const again = createFoundAgain(options.accounts);
  try {
    return await verifyWindow(options, window, again);
  } finally {
    // Also where it broke off: what was mended by then is found by nobody any more.
    again.ask(window.toSlot);
  }
}

/** Addresses of a request. */
const MANY = 100;

async function verifyWindow(options: VerifyOptions, window: Window, again: FoundAgain): Promise<Verified> {
  const { rpc, log, programId, store, signal } = options;
  const { fromSlot, toSlot, slot, marker, more } = window;
  const behind = await store.signatureBehind(toSlot);
  const listed = await listWindow({ rpc, programId, fromSlot, toSlot, behind, signal });
  const { missing, ghosts, doubted, disputed } = differenceOf(
    listed,
    await store.storedBetween(fromSlot, toSlot),
  );
  await mustBeGhosts(ghosts, listed.length, { rpc, programId });
  const read = (info: SignatureInfo) => mustRead(rpc, info, signal);
  const program = decodeKey(programId) as Uint8Array;
  for (const { info, unheard } of missing) {
    const record = await read(info);
    const leftOut = unheard ? again.leftOut(record) : [];
    // Told first: once the transaction is there nobody finds any more that the stream had not brought it.
    if (leftOut.length > 0) await log.append(leftOut.map((address) => unseenRecord(address, info.slot)));
    await log.append([record]);
    again.ask(toSlot, MANY);
  }
  const settled = await settleDoubts(doubted, read);
  if (settled.succeeded.length + disputed.length > 0) again.all();
  if (settled.succeeded.length > 0) await log.append(settled.succeeded);
  for (const one of disputed) await log.append([await decideDispute(one, program, read)]);
  const gone = [...ghosts, ...settled.failed];
  const struck = gone.length === 0 ? [] : await store.tracesOf(gone);
  // One that failed wrote nothing, in whichever version of its slot.
  if (gone.some(({ outcome }) => outcome !== 'failed')) again.all();
  // What was missing is acknowledged before anything says that it is there.
  await log.append([{ kind: 'verified', slot, struck }]);
  options.late?.compared(toSlot, marker);
  const mended = missing.length + settled.succeeded.length + disputed.length;
  return { slot, read: mended, struck: gone.length, more };
}

const unseenRecord = (address: string, slot: bigint): UnseenRecord => ({
  ...{ kind: 'unseen', address: decodeKey(address) as Uint8Array, slot },
});

async function mustRead(rpc: Rpc, info: SignatureInfo, signal: AbortSignal): Promise<TransactionRecord> {
  const record = await readListed(rpc, info, 0, signal);
  if (record === null) throw new HistoryUnavailableError(`transaction ${info.signature} cannot be read`);
  return record;
}

interface Window {
  fromSlot: bigint;
  toSlot: bigint;
  /** Up to where everything is verified then. */
  slot: bigint;
  /** What is stored is applied up to there. */
  marker: bigint;
  more: boolean;
}

async function nextWindow(
  { rpc, store, startSlot, applied, openGaps, late }: VerifyOptions,
  told: bigint | null,
): Promise<Window | null> {
  const [stored, marker, gaps] = await Promise.all([store.verifiedSlot(), applied(), openGaps()]);
  if (marker === null) return null;
  const from = higher(told, stored);
  const first = from === null ? startSlot : from + 1n - (told === null ? AGAIN : 0n);
  const again = late?.lowest(marker) ?? first;
  const fromSlot = higher(again < first ? again : first, startSlot) as bigint;
  const final = await rpc.getSlot({ commitment: 'finalized' });
  const next = await store.nextSlot(fromSlot);
  // Where nothing happens a window is as long as that lasts.
  const tip = [marker, final - BEHIND_FINAL, ...gaps.map((gap) => gap.fromSlot - 1n)].reduce(lower);
  const toSlot = next === null ? tip : lower(tip, next + WINDOW);
  if (toSlot < fromSlot) return null;
  return { fromSlot, toSlot, slot: higher(toSlot, from) as bigint, marker, more: toSlot < tip };
}

function higher(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

const lower = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Keeps the requests of the comparison within what a provider gives beside everything else. */
function budgeted(rpc: Rpc, signal: AbortSignal): Rpc {
  const bucket = createBucket(REQUESTS_PER_SECOND, BURST);
  return {
    ...rpc,
    getSignaturesForAddress: async (...args) => {
      await bucket.take(signal);
      return rpc.getSignaturesForAddress(...args);
    },
    getTransaction: async (...args) => {
      await bucket.take(signal);
      return rpc.getTransaction(...args);
    },
  };
}
