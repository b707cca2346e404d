import { setTimeout as delay } from 'node:timers/promises';

/**
 * Calls `tick` every `everyMs`, one at a time, as long as anybody is there to be told; it stands still otherwise. A tick
 * that fails is told and tried again.
 */
export function createTicker(options: {
  everyMs: number;
  wanted(): boolean;
  tick(): Promise<void>;
  onError(error: unknown): void;
}): { wake(): void } {
  let running = false;
  async function run(): Promise<void> {
    while (options.wanted()) {
      await options.tick().catch(options.onError);
      await delay(options.everyMs);
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
