import { messageOf } from '../../runtime/errors.ts';
import { upstreamWords } from '../../runtime/outside/upstream.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import type { LogWriter } from '../log/port.ts';
import { beginOf, type StoredBefore } from './begin-of.ts';
import { type Gap, HistoryUnavailableError, NotSettledError, PlaceUnknownError } from './gap.ts';
import { type Due, nextDue } from './next-due.ts';
import { closeGap, progress, type UnreadGap } from './read-history.ts';

export interface GapCloser {
  /**
   * Has a gap closed in the background, once `tell` has told the log that it is open; without, the store says so. Its
   * first slot is its identity. Where this process knows it as far, open or closed, it is left as it is, and the log is
   * told nothing. One that reaches further takes its place, unless it is open here and the store alone says so: whoever
   * widened it reads it, too.
   */
  add(gap: Gap, tell?: () => Promise<void>): void;
  /**
   * The same of one that the store says is open. What was closed here and is open there all the same, though the store
   * has the closing, another has opened again: a backfill, of a transaction that it could not read.
   * @param applied the marker up to which the store surely has what is in the log; null: all of it
   */
  addStored(gap: Gap, applied: bigint | null): void;
  /**
   * Takes up the slot of a transaction that cannot be read, once the log has it as open, whether or not it was closed
   * before; one that is open already is left as it is.
   */
  unread(gap: UnreadGap): void;
  /** Whether a gap with this first slot was opened or closed by this process. */
  knows(fromSlot: bigint): boolean;
  /** Resolves when no gap is left or the signal was given. */
  idle(): Promise<void>;
}

export interface GapCloserOptions {
  rpc: Rpc;
  log: LogWriter;
  programId: string;
  /** Nothing of the program is older, as far as nothing older is stored. */
  startSlot?: bigint;
  store?: StoredBefore;
  logger: Logger;
  signal: AbortSignal;
  onGap?: (gap: Gap, open: boolean) => void;
  /** The slot whose marker was sent last; null before one. */
  reached?: () => bigint | null;
  /**
   * What it waits for, in words that may be served, where it failed twice in a row or the chain is not far enough for
   * long; null once it goes on.
   */
  onStalled?: (reason: string | null) => void;
}

interface Task extends Due {
  gap: Gap;
  /** Given once one that reaches further has taken its place: nothing more is told of it. */
  replaced: AbortController;
  attempt: number;
  /** Times in a row that no node knew where the list goes on. */
  lost: number;
  /** Since when, by performance.now(), the chain is not far enough behind it, or that was told last; null where it is. */
  unsettledSince: number | null;
  /** The obstacle that the log was told of. */
  told: string;
}

const ofNode = (error: unknown) => `SOLANA_RPC_URL (${upstreamWords(error)})`;

const NOT_SETTLED_MS = 400;
/** What takes 13 s on a chain that goes on. */
const UNSETTLED_TOLD_MS = 30_000;
/** A node that lags does not know the place either, so it is not given up at once. */
const MOST_LOST = 3;

/** Closes gaps in the background, the newest first, one at a time, for as long as it takes: a gap is never skipped. */
export function createGapCloser(options: GapCloserOptions): GapCloser {
  const { logger, signal } = options;
  /** First slots, and the last that was ever taken up from each. */
  const known = new Map<bigint, bigint>();
  /** Of those that are closed: a marker behind this slot is behind the closing in the log. */
  const closed = new Map<bigint, bigint>();
  /** The next to close comes first. */
  const open: Task[] = [];
  let running: Promise<void> | null = null;
  let isStalled = false;
  let wake = () => {};

  const stalled = (reason: string | null) => {
    if (reason === null && !isStalled) return;
    isStalled = reason !== null;
    options.onStalled?.(reason);
  };
  const put = (gap: Gap) => {
    closed.delete(gap.fromSlot);
    open.unshift({
      gap: { ...gap },
      replaced: new AbortController(),
      attempt: 0,
      lost: 0,
      unsettledSince: null,
      told: '',
      notBefore: 0,
    });
    running ??= run();
    wake();
  };

  const adoptUnread = (gap: UnreadGap) => {
    const { signature, fromSlot: slot } = gap;
    if (!known.has(slot)) known.set(slot, slot);
    logger.error({ signature, slot: slot.toString() }, 'a transaction cannot be read; its slot stays open');
    options.onGap?.(gap, true);
    put(gap);
  };

  const close = async (task: Task) => {
    const startSlot = await beginOf(task.gap, options.startSlot ?? 0n, options.store ?? {});
    await closeGap(task.gap, {
      ...{ ...options, startSlot },
      signal: AbortSignal.any([signal, task.replaced.signal]),
      onUnread: (gaps) => gaps.forEach(adoptUnread),
      onProgress: (rest) => {
        if (task.replaced.signal.aborted) return;
        stalled(null);
        if (rest.toSlot < task.gap.toSlot) task.attempt = 0;
        task.unsettledSince = null;
        task.gap = rest;
        options.onGap?.(rest, true);
      },
    });
  };

  const failed = async (task: Task, error: unknown) => {
    const { gap, attempt } = task;
    if (task.replaced.signal.aborted) return;
    const slots = { fromSlot: gap.fromSlot.toString(), toSlot: gap.toSlot.toString() };
    if (error instanceof NotSettledError) {
      const now = performance.now();
      task.notBefore = now + NOT_SETTLED_MS;
      task.unsettledSince ??= now;
      if (now - task.unsettledSince < UNSETTLED_TOLD_MS) return;
      task.unsettledSince = now;
      logger.warn({ ...slots, error: error.message }, 'the gap waits for the chain to go on');
      stalled(error.message);
      return;
    }
    task.unsettledSince = null;
    logger.warn({ ...slots, attempt, error: messageOf(error) }, 'the gap stays open; trying again');
    if (attempt > 0) stalled(error instanceof HistoryUnavailableError ? error.message : ofNode(error));
    task.lost = error instanceof PlaceUnknownError ? task.lost + 1 : 0;
    if (task.lost === MOST_LOST) task.gap = { ...gap, before: null };
    task.attempt += 1;
    task.notBefore = performance.now() + backoffMs(attempt);
    // What holds one gap up need not hold the others up.
    open.push(...open.splice(open.indexOf(task), 1));
    const obstacle = error instanceof HistoryUnavailableError ? error.obstacle : null;
    if (obstacle === null || task.told === messageOf(error)) return;
    await options.log.append([progress(gap, obstacle)]);
    task.told = messageOf(error);
  };

  const run = async () => {
    while (open.length > 0 && !signal.aborted) {
      const task = await nextDue(open, (wakeUp) => (wake = wakeUp), signal);
      if (task === null) continue;
      try {
        await close(task);
        if (signal.aborted) break;
        if (task.replaced.signal.aborted) continue;
        stalled(null);
        open.splice(open.indexOf(task), 1);
        closed.set(task.gap.fromSlot, options.reached?.() ?? -1n);
        options.onGap?.(task.gap, false);
        logger.info({ fromSlot: task.gap.fromSlot.toString() }, 'history closed a gap');
      } catch (error) {
        await failed(task, error).catch((reason) =>
          logger.warn({ error: messageOf(reason) }, 'what keeps a gap open is not in the log yet'),
        );
      }
    }
    running = null;
  };

  const add: GapCloser['add'] = (gap, tell) => {
    const { fromSlot, toSlot } = gap;
    if (toSlot <= (known.get(fromSlot) ?? -1n)) return;
    const narrower = open.findIndex((task) => task.gap.fromSlot === fromSlot);
    if (narrower !== -1) {
      if (tell === undefined) return;
      open.splice(narrower, 1)[0]?.replaced.abort();
    }
    known.set(fromSlot, toSlot);
    closed.delete(fromSlot);
    options.onGap?.(gap, true);
    void (tell?.() ?? Promise.resolve()).then(() => {
      if (known.get(fromSlot) === toSlot) put(gap);
    });
  };

  return {
    add,
    addStored: (gap, applied) => {
      const at = closed.get(gap.fromSlot);
      if (at !== undefined && (applied === null || at < applied)) known.delete(gap.fromSlot);
      add(gap);
    },
    unread: (gap) => {
      if (!open.some((task) => task.gap.fromSlot === gap.fromSlot)) adoptUnread(gap);
    },
    knows: (fromSlot) => known.has(fromSlot),
    idle: async () => {
      while (running !== null) await running;
    },
  };
}
