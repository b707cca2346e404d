export interface BatcherOptions<T, Answer> {
  work(all: readonly T[]): Promise<Answer>;
  sizeOf(one: T): number;
  /** The most that one run holds, in sizes summed; an item that is larger by itself runs alone. */
  most: number;
  /** Whether an error is due to one item: those that failed together are then tried one by one. */
  isDueToOneItem(error: unknown): boolean;
  /** How long a run holds up the next one; without it, until the run ends. */
  patienceMs?: number;
}

interface Waiting<T, Answer> {
  one: T;
  done(answer: Answer): void;
  failed(error: unknown): void;
}

/**
 * Does work in batches: the items that come while a run is under way make up the next one.
 * Each call resolves with the answer of its run.
 */
export function createBatcher<T, Answer>(options: BatcherOptions<T, Answer>): (one: T) => Promise<Answer> {
  const { work, sizeOf, most, isDueToOneItem, patienceMs } = options;
  const waiting: Waiting<T, Answer>[] = [];
  /** The run that the next one waits for. */
  let current: object | null = null;

  const go = async (all: readonly Waiting<T, Answer>[]): Promise<void> => {
    let answer: Answer;
    try {
      answer = await work(all.map(({ one }) => one));
    } catch (error) {
      if (all.length === 1 || !isDueToOneItem(error)) return all.forEach(({ failed }) => void failed(error));
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
  /** How many of the first items fit into one run; at least one. */
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
      // Items that come in the same turn of the event loop run with the first.
      current = {};
      setImmediate(begin);
    });
}
