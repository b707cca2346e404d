/** Runs work one after the other, and lets whatever else came have its turn where it has been long enough at it. */
export type YieldingQueue = <T>(work: () => Promise<T>) => Promise<T>;

export interface YieldingQueueOptions {
  /** Milliseconds that only go forward. */
  now?(): number;
  /** Calls back once what came meanwhile has been looked at. */
  later?(call: () => void): void;
  /** Calls back after so many milliseconds. */
  after?(call: () => void, ms: number): void;
}

/** So long nothing else of the process is looked at. */
const SLICE_MS = 1;
/** Where others want the thread, too, it rests so many times as long as it worked. */
const RESTS = 3;
/** A question of its own may take long. */
const MOST_REST_MS = 20;

/**
 * For an engine that works on this thread and is done before it answers: a hundred questions that wait for it would be
 * answered in one go, with nobody else being heard meanwhile. Where those others had as much to do, it rests: strangers that
 * ask for challenges are not to keep readers waiting.
 */
export function createYieldingQueue({
  now = () => performance.now(),
  later = (call) => void setImmediate(call),
  after = (call, ms) => void setTimeout(call, ms),
}: YieldingQueueOptions = {}): YieldingQueue {
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
  const letOthersWork = async () => {
    const worked = used;
    const pausedAt = now();
    await new Promise<void>(later);
    if (now() - pausedAt < worked) return;
    await new Promise<void>((rested) => after(rested, Math.min(RESTS * worked, MOST_REST_MS)));
  };
  return (work) => {
    const turn = async () => {
      if (used >= SLICE_MS) await letOthersWork();
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
