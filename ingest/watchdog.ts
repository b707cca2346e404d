const SILENCE_MS = 30_000;
const CHECK_MS = 1_000;

export interface Watchdog {
  /** Something came; `slot` is the highest heard of. */
  heard(slot: bigint): void;
  stop(): void;
}

/** Calls `onSilence` where nothing comes, or no new slot does: a stopped server goes unnoticed otherwise. */
export function watch(options: { onSilence(): void; paused(): boolean }): Watchdog {
  let slot = -1n;
  let at = Date.now();
  const timer = setInterval(() => {
    if (options.paused()) at = Date.now();
    else if (Date.now() - at > SILENCE_MS) options.onSilence();
  }, CHECK_MS);
  return {
    heard: (highest) => {
      if (highest <= slot) return;
      slot = highest;
      at = Date.now();
    },
    stop: () => clearInterval(timer),
  };
}
