import { pause } from '../process/lifecycle.ts';

export interface Bucket {
  /** Waits for a token, in the order of the calls; false where the signal is aborted first. */
  take(signal: AbortSignal): Promise<boolean>;
  /** Takes one token, or `count`, if they are there now and no call waits. */
  tryTake(count?: number): boolean;
}

/** At most `perSecond` in the long run and `burst` at once. */
export function createBucket(perSecond: number, burst: number, clock: () => number = Date.now): Bucket {
  let tokens = burst;
  let filledAt = clock();
  let waiting = 0;
  let lastTurn: Promise<unknown> = Promise.resolve();

  function tryTake(count = 1): boolean {
    const now = clock();
    tokens = Math.min(burst, tokens + (Math.max(0, now - filledAt) * perSecond) / 1000);
    filledAt = now;
    if (tokens < count) return false;
    tokens -= count;
    return true;
  }

  async function next(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if (tryTake()) return true;
      await pause(Math.ceil(((1 - tokens) * 1000) / perSecond), signal);
    }
    return false;
  }

  async function inLine(signal: AbortSignal): Promise<boolean> {
    const before = lastTurn;
    const done = Promise.withResolvers<void>();
    lastTurn = done.promise;
    await sooner(before, signal);
    try {
      return await next(signal);
    } finally {
      // A call that gave up in the queue passes its turn on only once those before it are done.
      void before.then(() => done.resolve());
    }
  }

  return {
    tryTake: (count) => waiting === 0 && tryTake(count),
    take: async (signal) => {
      if (waiting === 0 && !signal.aborted && tryTake()) return true;
      waiting += 1;
      try {
        return await inLine(signal);
      } finally {
        waiting -= 1;
      }
    },
  };
}

function sooner(turn: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted) return done();
    signal.addEventListener('abort', done);
    void turn.then(done);
  });
}
