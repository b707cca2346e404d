import { messageOf } from '../runtime/errors.ts';
import { pause } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/log.ts';
import type { Rpc } from '../runtime/rpc.ts';
import { closeGap, type Gap } from './history.ts';
import type { LogWriter } from './log/port.ts';
import { backoffMs } from './retry.ts';

export interface GapCloser {
  add(gap: Gap): void;
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
  const open: Gap[] = [];
  let running: Promise<void> | null = null;

  const run = async () => {
    for (let attempt = 0; open.length > 0 && !signal.aborted; ) {
      const gap = open.at(-1) as Gap;
      const slots = { fromSlot: gap.fromSlot.toString(), toSlot: gap.toSlot.toString() };
      try {
        await closeGap(gap, {
          ...options,
          onProgress: (progress) => {
            attempt = 0;
            gap.toSlot = progress.toSlot;
            options.onGap?.(progress, true);
          },
        });
        if (signal.aborted) return;
        open.splice(open.indexOf(gap), 1);
        options.onGap?.(gap, false);
        logger.info(slots, 'history closed a gap');
        attempt = 0;
      } catch (error) {
        logger.warn({ ...slots, attempt, error: messageOf(error) }, 'the gap stays open; trying again');
        await pause(backoffMs(attempt), signal);
        attempt += 1;
      }
    }
  };

  return {
    add: (gap) => {
      open.push({ ...gap });
      options.onGap?.(gap, true);
      running ??= run().finally(() => {
        running = null;
      });
    },
    idle: async () => {
      while (running !== null) await running;
    },
  };
}
