/** Runs work one after the other; whenever it has worked for a slice, other events of the process have their turn. */
export type YieldingQueue = <T>(work: () => Promise<T>) => Promise<T>;

export interface YieldingQueueOptions {
  /** Milliseconds that only go forward. */
  now?(): number;
  /** Calls back once the events that came meanwhile have been handled. */
  later?(call: () => void): void;
  /** Calls back after so many milliseconds. */
  after?(call: () => void, ms: number): void;
}

/** Work after which other events have their turn. */
const SLICE_MS = 1;
/** Where other events want the thread too, the queue rests so many times as long as it worked. */
const RESTS = 3;
/** The longest rest, as a single query may have worked for long. */
const MOST_REST_MS = 20;

/**
 * For an engine that works on this thread and does not yield before it is done: a hundred waiting queries would be
 * answered in one go, with no other event handled meanwhile. Where the other events then take as long as the queue
 * worked, it rests: strangers that ask for challenges must not keep readers waiting.
 */
export function createYieldingQueue({
  now = () => performance.now(),
  later = (call) => void setImmediate(call),
  after = (call, ms) => void setTimeout(call, ms),
}: YieldingQueueOptions = {}): YieldingQueue {
  let last: Promise<unknown> = Promise.resolve();
  /** Milliseconds of work since other events were last handled. */
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
