import { messageOf } from '../../runtime/errors.ts';
import { upstreamWords } from '../../runtime/outside/upstream.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import type { LogWriter } from '../log/port.ts';
import { firstSlotToRead, type StoredBefore } from './first-slot-to-read.ts';
import { type Gap, HistoryUnavailableError, NotSettledError, PlaceUnknownError } from './gap.ts';
import { type GapTask, standingOf, taskOf } from './gap-task.ts';
import { nextDue } from './next-due.ts';
import { closeGap, openGapRecord, type UnreadGap } from './read-history.ts';

export interface GapCloser {
  /**
   * Closes a gap in the background, once `tell` has told the log that it is open; without `tell` the store already says
   * so. Its first slot is its identity. Where this process knows a gap with that first slot that reaches as far, open
   * or closed, nothing is done and the log is told nothing. A gap that reaches further takes the place of the known
   * one, unless that is still open here and only the store tells of the wider one: the process that widened it reads
   * it, too.
   */
  add(gap: Gap, tell?: () => Promise<void>): void;
  /**
   * The same for a gap that the store says is open. Where it was closed here, and the store shows it open although it
   * has that closing, another process has opened it again: a backfill, for a transaction that it could not read.
   * @param applied the marker up to which the store surely has what is in the log; null: it has all of it
   */
  addStored(gap: Gap, applied: bigint | null): void;
  /**
   * Takes up the gap of one slot that an unreadable transaction keeps, once the log has it as open, even where it was
   * closed before; one that is open here already is left as it is.
   */
  unread(gap: UnreadGap): void;
  /** Whether a gap with this first slot was opened or closed by this process. */
  knows(fromSlot: bigint): boolean;
  /** The first slots of the gaps that are still to be closed. */
  waiting(): bigint[];
  /**
   * Drops gaps that the store has closed as far as they reach: a backfill has read them. A gap stays where the store
   * may not have applied yet what this process told the log of it: it may have been opened again since.
   * @param readTo of gaps that the store has closed: the slot up to which each was read, by first slot
   * @param applied the marker that the store surely had applied before it was asked for `readTo`
   */
  closedElsewhere(readTo: ReadonlyMap<bigint, bigint>, applied: bigint): void;
  /** Resolves when no gap is left or the signal was given. */
  idle(): Promise<void>;
}

export interface GapCloserOptions {
  rpc: Rpc;
  log: LogWriter;
  programId: string;
  /** The program has no transaction before this slot, unless an older one is stored. */
  startSlot?: bigint;
  store?: StoredBefore;
  logger: Logger;
  signal: AbortSignal;
  onGap?: (gap: Gap, open: boolean) => void;
  /** The highest slot whose marker was sent; null before one. */
  reached?: () => bigint | null;
  /**
   * What history waits for, in words that may be served, where a gap failed twice in a row or the chain is not far
   * enough past it for long; null once it goes on.
   */
  onStalled?: (reason: string | null) => void;
}

const ofNode = (error: unknown) => `SOLANA_RPC_URL (${upstreamWords(error)})`;

const NOT_SETTLED_MS = 400;
/** A wait for the chain is reported after so long: where the node is with the chain it takes 15 s at most. */
const UNSETTLED_TOLD_MS = 30_000;
/**
 * Times in a row that no node knew the place, until the list begins anew. Not at once: a node that merely lags does not
 * know it either.
 */
const MOST_LOST = 3;

/** Closes gaps in the background, the newest first, one at a time, for as long as it takes: a gap is never skipped. */
export function createGapCloser(options: GapCloserOptions): GapCloser {
  const { logger, signal } = options;
  /** The furthest last slot that was ever taken up, by first slot. */
  const known = new Map<bigint, bigint>();
  /** Of closed gaps, by first slot: any marker above this slot stands behind the closing in the log. */
  const closed = new Map<bigint, bigint>();
  /** The next to close comes first. */
  const open: GapTask[] = [];
  let running: Promise<void> | null = null;
  let isStalled = false;
  let wake = () => {};

  const stalled = (reason: string | null) => {
    if (reason === null && !isStalled) return;
    isStalled = reason !== null;
    options.onStalled?.(reason);
  };
  const reached = () => options.reached?.() ?? -1n;
  const logOf = (task: GapTask): LogWriter => ({
    ...options.log,
    append: async (records) => {
      const isTold = records.some(({ kind }) => kind === 'gap');
      if (isTold) task.loggedAt = null;
      // Also where the append fails: the log may have the record all the same.
      await options.log.append(records).finally(() => {
        if (isTold) task.loggedAt = reached();
      });
    },
  });
  const put = (gap: Gap) => {
    closed.delete(gap.fromSlot);
    open.unshift(taskOf(gap, reached()));
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

  const close = async (task: GapTask) => {
    const startSlot = await firstSlotToRead(task.gap, options.startSlot ?? 0n, options.store ?? {});
    await closeGap(task.gap, {
      ...{ ...options, startSlot, log: logOf(task), standing: standingOf(task, reached()) },
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

  const failed = async (task: GapTask, error: unknown) => {
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
    if (obstacle === null || task.loggedObstacle === messageOf(error)) return;
    await logOf(task).append([openGapRecord(gap, obstacle)]);
    task.loggedObstacle = messageOf(error);
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
        closed.set(task.gap.fromSlot, reached());
        options.onGap?.(task.gap, false);
        logger.info({ fromSlot: task.gap.fromSlot.toString() }, 'history closed a gap');
      } catch (error) {
        await failed(task, error).catch((reason) =>
          logger.warn(
            { error: messageOf(reason) },
            'the log was not told why a gap stays open; trying again',
          ),
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
      const task = open.find((one) => one.gap.fromSlot === gap.fromSlot);
      if (task === undefined) adoptUnread(gap);
      else if (task.loggedAt !== null) task.loggedAt = reached();
    },
    knows: (fromSlot) => known.has(fromSlot),
    waiting: () => open.map(({ gap }) => gap.fromSlot),
    closedElsewhere: (readTo, applied) => {
      for (const task of [...open]) {
        const { gap, loggedAt } = task;
        const isRead = (readTo.get(gap.fromSlot) ?? -1n) >= gap.toSlot;
        if (!isRead || loggedAt === null || loggedAt >= applied) continue;
        open.splice(open.indexOf(task), 1);
        task.replaced.abort();
        // The store has the closing by now: where it shows the gap open later, the gap was opened since.
        closed.set(gap.fromSlot, applied - 1n);
        stalled(null);
        options.onGap?.(gap, false);
        logger.info({ fromSlot: gap.fromSlot.toString() }, 'a backfill closed a gap');
        wake();
      }
    },
    idle: async () => {
      while (running !== null) await running;
    },
  };
}
