/** Runs a read of the store when it is its turn. @throws BusyError */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Reads that many clients ask for by one key: one at a time for each key, and every client waits in its own queue. */
export interface OneReadPerKey<T> {
  /** The read of this key that has begun; undefined where none has. */
  underWay(key: string): Promise<T> | undefined;
  /**
   * The next read of this key. Of all clients that want it, the one whose turn comes first begins it.
   * @throws BusyError where the queue of this address refuses it, and so did those of all that came before
   */
  next(key: string, work: () => Promise<T>, inTurn: InTurn, address: string): Promise<T>;
}

/** A read that is waited for. */
interface Wanted<T> {
  read: Promise<T>;
  /** Begins the read, unless another turn has: then this turn is over at once. */
  begin(): Promise<void>;
  /** The turn of each address that waits: however often it asks, it has one place in its queue. */
  turns: Map<string, Promise<void>>;
  /** The turn of the client that came last. */
  last: Promise<void> | null;
}

export function createOneReadPerKey<T>(): OneReadPerKey<T> {
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
      // An error is for those that wait for the read, not for the turn that began it.
      await begun.catch(() => {});
    };
    const one: Wanted<T> = { read, begin, turns: new Map(), last: null };
    wanted.set(key, one);
    return one;
  };

  /** Where the client's queue has no place, it relies on the turns of those that came before: they wait no longer. */
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
