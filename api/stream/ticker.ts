import { setTimeout as delay } from 'node:timers/promises';

/**
 * Calls `tick` every `everyMs`, one at a time, as long as `wanted` says so; it stands still otherwise. A tick that
 * fails is reported and tried again, after twice the time with each failure in a row.
 * @param mostMs the longest pause; `everyMs` where it is not given
 */
export function createTicker(options: {
  everyMs: number;
  mostMs?: number;
  wanted(): boolean;
  tick(): Promise<void>;
  onError(error: unknown): void;
  /** Resolves after so many milliseconds. */
  pause?(ms: number): Promise<unknown>;
}): { wake(): void } {
  const { everyMs, mostMs = everyMs, pause = (ms) => delay(ms) } = options;
  let running = false;
  async function run(): Promise<void> {
    let waitMs = everyMs;
    while (options.wanted()) {
      try {
        await options.tick();
        waitMs = everyMs;
      } catch (error) {
        options.onError(error);
        waitMs = Math.min(2 * waitMs, mostMs);
      }
      await pause(waitMs);
    }
    running = false;
  }
  return {
    wake: () => {
      if (running) return;
      running = true;
      void run();
    },
  };
}
