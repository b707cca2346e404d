/** Runs work one after the other, and lets whatever else came have its turn where it has been long enough at it. */
export type Slices = <T>(work: () => Promise<T>) => Promise<T>;

export interface SliceOptions {
  /** Milliseconds that only go forward. */
  now?(): number;
  /** Calls back once what came meanwhile has been looked at. */
  later?(call: () => void): void;
}

/** So long nothing else of the process is looked at. */
const SLICE_MS = 1;

/**
 * For an engine that works on this thread and is done before it answers: a hundred questions that wait for it would be
 * answered in one go, with nobody else being heard meanwhile.
 */
export function createSlices({
  now = () => performance.now(),
  later = (call) => void setImmediate(call),
}: SliceOptions = {}): Slices {
  let last: Promise<unknown> = Promise.resolve();
  /** Since anything else was last looked at. */
  let used = 0;
  let isWaiting = false;

  const noteWhenHeard = () => {
    if (isWaiting) return;
    isWaiting = true;
    later(() => {
      isWaiting = false;
      used = 0;
    });
  };
  return (work) => {
    const turn = async () => {
      if (used >= SLICE_MS) await new Promise<void>(later);
      noteWhenHeard();
      const startedAt = now();
      try {
        return await work();
      } finally {
        used += now() - startedAt;
      }
    };
    const done = last.then(turn, turn);
    last = done;
    return done;
  };
}
