/** Delays the next batch, so that entries that arrive meanwhile go into it together. */
export interface Linger {
  /** Resolves once the next batch may be taken, for all topics at the same moment. */
  due(): Promise<void>;
  /** A batch was taken: begins the delay before the next. */
  taken(): void;
  /** Ends the current delay at once: a client waits for what has arrived. */
  handOutNow(): void;
}

/** @param waitMs milliseconds from one batch to the next; asked with each batch, 0 for no delay */
export function createLinger(waitMs: () => number): Linger {
  let rest: Promise<void> = Promise.resolve();
  let end: (() => void) | null = null;
  return {
    due: () => rest,
    taken: () => {
      const ms = end === null ? waitMs() : 0;
      if (ms <= 0) return;
      rest = new Promise((resolve) => {
        const timer = setTimeout(() => end?.(), ms);
        end = () => {
          clearTimeout(timer);
          end = null;
          resolve();
        };
      });
    },
    handOutNow: () => end?.(),
  };
}
