export interface TogetherOptions<T> {
  work(all: readonly T[]): Promise<void>;
  sizeOf(one: T): number;
  /** The size of one go; what is larger by itself goes alone. */
  most: number;
  /** Whether those that failed together are tried one by one, so that one does not fail for another. */
  isOfOne(error: unknown): boolean;
}

interface Waiting<T> {
  one: T;
  done(): void;
  failed(error: unknown): void;
}

/** Work that goes together: what comes while some is under way is one go after it, and waits no longer than for that. */
export function together<T>({ work, sizeOf, most, isOfOne }: TogetherOptions<T>): (one: T) => Promise<void> {
  const waiting: Waiting<T>[] = [];
  let isAtWork = false;

  const go = async (all: readonly Waiting<T>[]): Promise<void> => {
    try {
      await work(all.map(({ one }) => one));
    } catch (error) {
      if (all.length === 1 || !isOfOne(error)) return all.forEach(({ failed }) => void failed(error));
      for (const one of all) await go([one]);
      return;
    }
    for (const { done } of all) done();
  };
  const goOn = async () => {
    // Those that come in the same turn go with the first.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await go(waiting.splice(0, countUpTo(waiting)));
    isAtWork = false;
  };
  /** How many of the first fit together; at least one. */
  const countUpTo = (list: readonly Waiting<T>[]): number => {
    let size = 0;
    const end = list.findIndex(({ one }) => {
      size += sizeOf(one);
      return size > most;
    });
    return end === -1 ? list.length : Math.max(1, end);
  };

  return (one) =>
    new Promise((done, failed) => {
      waiting.push({ one, done, failed });
      if (isAtWork) return;
      isAtWork = true;
      void goOn();
    });
}
