/** Holds up who hands batches out, so that what comes meanwhile goes together. */
export interface Linger {
  /** Resolves once the next batch may be taken: for all who wait at the same moment. */
  due(): Promise<void>;
  /** A batch is taken: the next waits. */
  taken(): void;
  /** Somebody waits for what there is. */
  hurry(): void;
}

/** @param waitMs from one batch to the next; asked with each, 0 where nothing is to be held up */
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
    hurry: () => end?.(),
  };
}
