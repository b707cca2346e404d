/** Runs a read of the store when it is its turn. @throws BusyError */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Reads that many ask for by one key: one at a time for each, and everybody waits for it in his own line. */
export interface ReadsForAll<T> {
  /** The one that has begun. */
  underWay(key: string): Promise<T> | undefined;
  /**
   * The next one. Of all who want it, whoever has his turn first begins it.
   * @throws BusyError where the line of this address refuses it, and those of all who came before have
   */
  next(key: string, work: () => Promise<T>, inTurn: InTurn, address: string): Promise<T>;
}

/** A read that is waited for. */
interface Wanted<T> {
  read: Promise<T>;
  /** Begins it, unless somebody has: then the turn is over at once. */
  begin(): Promise<void>;
  /** Of each address that waits: however often it asks, it has one place in its line. */
  turns: Map<string, Promise<void>>;
  /** Of who came last. */
  last: Promise<void> | null;
}

export function createReadsForAll<T>(): ReadsForAll<T> {
  const underWay = new Map<string, Promise<T>>();
  const wanted = new Map<string, Wanted<T>>();

  const open = (key: string, work: () => Promise<T>): Wanted<T> => {
    const { promise: read, resolve } = Promise.withResolvers<T>();
    const begin = async () => {
      if (wanted.get(key) !== one) return;
      wanted.delete(key);
      const begun = work().finally(() => underWay.delete(key));
      underWay.set(key, begun);
      resolve(begun);
      // It fails for those who wait for it, and not for whose turn it was alone.
      await begun.catch(() => {});
    };
    const one: Wanted<T> = { read, begin, turns: new Map(), last: null };
    wanted.set(key, one);
    return one;
  };

  /** Where the line has no place for it those who came before have: they wait no longer than it would. */
  const turnOf = async (one: Wanted<T>, inTurn: InTurn): Promise<void> => {
    const before = one.last;
    try {
      await inTurn(one.begin);
    } catch (refusal) {
      if (before === null) throw refusal;
      await before.catch(() => Promise.reject(refusal));
    }
  };

  return {
    underWay: (key) => underWay.get(key),
    next: async (key, work, inTurn, address) => {
      const one = wanted.get(key) ?? open(key, work);
      const turn = one.turns.get(address) ?? turnOf(one, inTurn);
      one.turns.set(address, turn);
      one.last = turn;
      try {
        return await Promise.race([one.read, turn.then(() => one.read)]);
      } catch (error) {
        if (one.turns.get(address) === turn) one.turns.delete(address);
        if (one.turns.size === 0 && wanted.get(key) === one) wanted.delete(key);
        throw error;
      }
    },
  };
}
