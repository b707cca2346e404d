export interface TogetherOptions<T, Answer> {
  work(all: readonly T[]): Promise<Answer>;
  sizeOf(one: T): number;
  /** The size of one go; what is larger by itself goes alone. */
  most: number;
  /** Whether those that failed together are tried one by one, so that one does not fail for another. */
  isOfOne(error: unknown): boolean;
}

interface Waiting<T, Answer> {
  one: T;
  done(answer: Answer): void;
  failed(error: unknown): void;
}

/**
 * Work that goes together: what comes while some is under way is one go after it, and waits no longer than for that.
 * Each is told what its go answered.
 */
export function together<T, Answer>(options: TogetherOptions<T, Answer>): (one: T) => Promise<Answer> {
  const { work, sizeOf, most, isOfOne } = options;
  const waiting: Waiting<T, Answer>[] = [];
  let isAtWork = false;

  const go = async (all: readonly Waiting<T, Answer>[]): Promise<void> => {
    let answer: Answer;
    try {
      answer = await work(all.map(({ one }) => one));
    } catch (error) {
      if (all.length === 1 || !isOfOne(error)) return all.forEach(({ failed }) => void failed(error));
      for (const one of all) await go([one]);
      return;
    }
    for (const { done } of all) done(answer);
  };
  const goOn = async () => {
    // Those that come in the same turn go with the first.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) await go(waiting.splice(0, countUpTo(waiting)));
    isAtWork = false;
  };
  /** How many of the first fit together; at least one. */
  const countUpTo = (list: readonly Waiting<T, Answer>[]): number => {
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
