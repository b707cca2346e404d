/** A chain makes a slot every 400 ms and a server pings every 10 s. */
const SILENCE_MS = 30_000;
/** A stream that releases no slot for this long brings no block metas or no slot notices. */
const NO_RELEASE_MS = 90_000;

export interface Watchdog {
  /** To be called for each update: `highest` is the highest slot heard of, `released` the last that was released. */
  heard(highest: bigint, released: bigint | null): void;
  stop(): void;
}

export interface WatchdogOptions {
  silenceMs?: number;
  noReleaseMs?: number;
  /** Called once, with what is wrong. */
  onStall(reason: string): void;
  /** Whether this process holds the stream back: its silence is no stall then. */
  paused(): boolean;
}

/**
 * Calls `onStall` where no new slot is heard of, or none is released: a stopped or stuck server goes unnoticed
 * otherwise.
 */
export function watch(options: WatchdogOptions): Watchdog {
  const { silenceMs = SILENCE_MS, noReleaseMs = NO_RELEASE_MS } = options;
  let highest = -1n;
  let released: bigint | null = null;
  let heardAt = performance.now();
  let releasedAt = heardAt;
  const stall = (reason: string) => {
    clearInterval(timer);
    options.onStall(reason);
  };
  const timer = setInterval(
    () => {
      const now = performance.now();
      if (options.paused()) {
        heardAt = now;
        releasedAt = now;
      } else if (now - heardAt > silenceMs) stall(`no new slot for ${silenceMs} ms`);
      else if (now - releasedAt > noReleaseMs) stall(`no slot was complete for ${noReleaseMs} ms`);
    },
    Math.min(1_000, silenceMs / 4),
  );
  return {
    heard: (slot, last) => {
      const now = performance.now();
      if (slot > highest) {
        highest = slot;
        heardAt = now;
      }
      if (last !== null && (released === null || last > released)) {
        released = last;
        releasedAt = now;
      }
    },
    stop: () => clearInterval(timer),
  };
}
