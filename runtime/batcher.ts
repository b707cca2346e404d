export interface BatcherOptions<T, Answer> {
  work(all: readonly T[]): Promise<Answer>;
  sizeOf(one: T): number;
  /** The size of one go; what is larger by itself goes alone. */
  most: number;
  /** Whether those that failed together are tried one by one, so that one does not fail for another. */
  isOfOne(error: unknown): boolean;
  /** For how long a go holds up the next; until its end, unless it is given. */
  patienceMs?: number;
}

interface Waiting<T, Answer> {
  one: T;
  done(answer: Answer): void;
  failed(error: unknown): void;
}

/**
 * Work that goes together: what comes while some is under way is one go after it.
 * Each is told what its go answered.
 */
export function createBatcher<T, Answer>(options: BatcherOptions<T, Answer>): (one: T) => Promise<Answer> {
  const { work, sizeOf, most, isOfOne, patienceMs } = options;
  const waiting: Waiting<T, Answer>[] = [];
  /** The go that the next waits for. */
  let current: object | null = null;

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
  const begin = () => {
    const mine = {};
    current = mine;
    const over = () => {
      clearTimeout(patience);
      if (current !== mine) return;
      current = null;
      if (waiting.length > 0) begin();
    };
    const patience = patienceMs === undefined ? undefined : setTimeout(over, patienceMs);
    void go(waiting.splice(0, countUpTo(waiting))).then(over);
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
      if (current !== null) return;
      // Those that come in the same turn go with the first.
      current = {};
      setImmediate(begin);
    });
}
