/** The longest wait for a turn, and the error that is thrown after it. */
export interface TurnLimit {
  waitMs: number;
  tooLate(): Error;
}

/** Runs the work that is given for one name in turn; different names do not wait for each other. */
export type Queue = <T>(name: string, work: () => Promise<T>, limit?: TurnLimit) => Promise<T>;

export function createQueue(): Queue {
  const last = new Map<string, Promise<unknown>>();
  return (name, work, limit) => {
    const before = last.get(name) ?? Promise.resolve();
    const queuedAt = performance.now();
    const run = () => {
      if (limit !== undefined && performance.now() - queuedAt > limit.waitMs) throw limit.tooLate();
      return work();
    };
    const mine = before.then(run, run);
    last.set(name, mine);
    const done = () => {
      if (last.get(name) === mine) last.delete(name);
    };
    mine.then(done, done);
    return mine;
  };
}
