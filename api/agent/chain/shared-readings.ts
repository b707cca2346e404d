/** @param least the reading must be of this slot or a later one. */
type Read<T> = (least: bigint) => Promise<T>;

export type SharedReadings<T> = (name: string, least: bigint, read: Read<T>) => Promise<T>;

interface Next<T> {
  least: bigint;
  result: Promise<T>;
}

/**
 * One reading at a time for each name: a call that comes while one is under way waits for the next, which all waiting
 * calls share. So every call gets a reading that began after it, and a flood of calls costs one reading after another.
 */
export function createSharedReadings<T>(): SharedReadings<T> {
  const running = new Map<string, Promise<unknown>>();
  const waiting = new Map<string, Next<T>>();

  function run(name: string, begun: Promise<T>): Promise<T> {
    running.set(name, begun);
    const ended = () => {
      if (running.get(name) === begun) running.delete(name);
    };
    begun.then(ended, ended);
    return begun;
  }

  return (name, least, read) => {
    const before = running.get(name);
    if (before === undefined) return run(name, read(least));
    const next = waiting.get(name);
    if (next !== undefined) {
      if (least > next.least) next.least = least;
      return next.result;
    }
    const mine: Next<T> = { least, result: Promise.resolve() as never };
    const begin = () => {
      waiting.delete(name);
      return run(name, read(mine.least));
    };
    mine.result = before.then(begin, begin);
    waiting.set(name, mine);
    return mine.result;
  };
}
