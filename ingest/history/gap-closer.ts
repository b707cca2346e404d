import { messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/lifecycle.ts';
import type { Logger } from '../../runtime/log.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { Rpc } from '../../runtime/rpc.ts';
import type { LogWriter } from '../log/port.ts';
import type { Gap } from './gap.ts';
import { closeGap } from './read-history.ts';

export interface GapCloser {
  /**
   * Has a gap closed in the background once the log has its opening. A gap's first slot is its identity: one that
   * is known already, opened or closed by this process, is left as it is.
   */
  add(gap: Gap, opened?: Promise<void>): void;
  /** Resolves when no gap is left or the signal was given. */
  idle(): Promise<void>;
}

export interface GapCloserOptions {
  rpc: Rpc;
  log: LogWriter;
  programId: string;
  logger: Logger;
  signal: AbortSignal;
  onGap?: (gap: Gap, open: boolean) => void;
}

/** Closes gaps in the background, the newest first, one at a time, for as long as it takes: a gap is never skipped. */
export function createGapCloser(options: GapCloserOptions): GapCloser {
  const { logger, signal } = options;
  const known = new Set<bigint>();
  /** The next to close comes first. */
  const open: Gap[] = [];
  let running: Promise<void> | null = null;

  const run = async () => {
    let attempt = 0;
    for (let gap = open[0]; gap !== undefined && !signal.aborted; gap = open[0]) {
      const current = gap;
      const slots = { fromSlot: current.fromSlot.toString(), toSlot: current.toSlot.toString() };
      try {
        await closeGap(current, {
          ...options,
          onProgress: (progress) => {
            attempt = 0;
            current.toSlot = progress.toSlot;
            options.onGap?.(progress, true);
          },
        });
        if (signal.aborted) break;
        open.splice(open.indexOf(current), 1);
        options.onGap?.(current, false);
        logger.info(slots, 'history closed a gap');
      } catch (error) {
        logger.warn({ ...slots, attempt, error: messageOf(error) }, 'the gap stays open; trying again');
        // What holds one gap up need not hold the others up.
        open.push(...open.splice(open.indexOf(current), 1));
        await pause(backoffMs(attempt), signal);
        attempt += 1;
      }
    }
    running = null;
  };

  return {
    add: (gap, opened = Promise.resolve()) => {
      if (known.has(gap.fromSlot)) return;
      known.add(gap.fromSlot);
      options.onGap?.(gap, true);
      void opened.then(() => {
        open.unshift({ ...gap });
        running ??= run();
      });
    },
    idle: async () => {
      while (running !== null) await running;
    },
  };
}
