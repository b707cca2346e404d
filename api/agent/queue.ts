/** Runs what is given for one name one after another; different names do not wait for each other. */
export type Queue = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/**
 * @param waitMs longest wait for the others of the same name
 * @param tooLate what is thrown after it
 */
export function createQueue(waitMs: number, tooLate: () => Error): Queue {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const before = last.get(name) ?? Promise.resolve();
    const queuedAt = performance.now();
    const run = () => {
      if (performance.now() - queuedAt > waitMs) throw tooLate();
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
