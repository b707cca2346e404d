import { setTimeout as delay } from 'node:timers/promises';
import type { Store } from '../../clickhouse/client.ts';
import { RetryableError } from '../../runtime/errors.ts';
import { createTableFeed, type Feed, type HandOver } from './feed.ts';
import { createMemory, type Memory } from './memory.ts';
import type { Memo } from './memos/memo.ts';
import type { View } from './view.ts';

/** The latest state of the serving database, kept in memory and notified of changes. */
export interface Latest {
  /**
   * What `make` returns for memory at one moment. @throws RetryableError where the store gave no answer for `lostMs`.
   */
  read<T>(make: (view: View) => T): Promise<Memo<T>>;
  /** The same without waiting; null where the store has to be asked first. */
  readNow<T>(make: (view: View) => T): Memo<T> | null;
  /**
   * Whether `made` still holds: made again now, it would be the same. False where the store would have to be asked
   * first, and where the memory that it was made of was invalidated.
   */
  stillHolds<T>(made: Memo<T>): boolean;
  /** The serving database. @throws RetryableError before the first connection. */
  currentStore(): Store;
  /** Milliseconds since the store last answered, while there are readers; 0 where the writer is in this process. */
  age(): number;
  /**
   * The same for whoever monitors the process: 0 also while there are no readers; before the first connection, the time
   * since the start.
   */
  monitoredAge(): number;
  /** Whether the rows of all policies are being read: a page not asked for before is asked of the store meanwhile. */
  isFolding(): boolean;
  /** Milliseconds since the last read; 0 while one is under way, infinite where there was none. */
  idleMs(): number;
}

export interface LatestOptions {
  /** The serving database. Called once per request: a replay may switch it between two requests. */
  currentStore(): Store;
  /** Unix milliseconds. */
  clock(): number;
  /** Milliseconds that only go forward: `performance.now` unless it is given. */
  monotonic?(): number;
  /** Given where the writer is in this process; otherwise the table of changes is read. */
  handOver?: HandOver;
  signal?: AbortSignal;
  onError?(error: unknown): void;
  /** Called on the first read after an idle period. */
  onAsked?(): void;
  /** Most bytes of the values of each kind, measured as JSON text. */
  maxBytes?: number;
  /** Most policies that are ranked in memory; with more of them ClickHouse ranks. */
  mostRanked?: number;
  times?: Partial<LatestTimes>;
}

export interface LatestTimes {
  /** Between two checks of the store while there are readers. */
  everyMs: number;
  /** After this long without a read the store is left alone. */
  idleMs: number;
  /** A store that has not answered for this long is down. */
  lostMs: number;
}

const TIMES: LatestTimes = { everyMs: 50, idleMs: 250, lostMs: 10_000 };
const MAX_BYTES = 16 * 1024 * 1024;

export function createLatest(options: LatestOptions): Latest {
  const { currentStore, handOver, clock, signal } = options;
  const times = { ...TIMES, ...options.times };
  const onError = options.onError ?? (() => {});
  const monotonic = options.monotonic ?? (() => performance.now());
  /** The memory of the serving database; after a switch, that of the former one until the next read. */
  const memories = new Map<Store, Followed>();
  const begunAt = monotonic();

  const followed = (store: Store): Followed => {
    const known = memories.get(store);
    if (known !== undefined) return known;
    const feed: Feed = handOver ?? createTableFeed(store, monotonic, clock);
    const maxBytes = options.maxBytes ?? MAX_BYTES;
    const made: Followed = {
      memory: createMemory({ store, feed, clock, monotonic, maxBytes, mostRanked: options.mostRanked }),
      feed,
      readAt: Number.NEGATIVE_INFINITY,
      readers: 0,
      waking: null,
      following: false,
    };
    // The home database stays open whichever serves, and its memory would stay with it. Readers of the former memory
    // hold it themselves.
    for (const { memory } of memories.values()) memory.invalidate();
    memories.clear();
    memories.set(store, made);
    return made;
  };
  const isIdle = (one: Followed) => one.readers === 0 && monotonic() - one.readAt > times.idleMs;
  const turn = (one: Followed) => one.memory.turn().catch(onError);
  /**
   * Whether turns must be run without being notified: to poll the table of changes, or since a turn failed, for nobody
   * notifies again of what it should have read.
   */
  const needsTurns = (one: Followed) => handOver === undefined || one.memory.isBehind();
  /** Keeps memory warm as long as there are readers. */
  const follow = async (one: Followed, store: Store) => {
    one.following = true;
    while (signal?.aborted !== true && !isIdle(one) && storeNow() === store && needsTurns(one)) {
      await turn(one);
      await delay(times.everyMs, undefined, { signal, ref: false }).catch(() => {});
    }
    one.following = false;
  };
  const keepUp = (one: Followed, store: Store) => {
    if (!one.following && needsTurns(one)) void follow(one, store);
  };
  /** Null before the first connection. */
  const storeNow = (): Store | null => {
    try {
      return currentStore();
    } catch {
      return null;
    }
  };
  handOver?.onApplied(() => {
    const store = currentStore();
    const one = memories.get(store);
    if (one !== undefined && !isIdle(one)) void turn(one).then(() => keepUp(one, store));
  });
  /** Waits for as long as the store keeps answering something: reading all policies takes its time. */
  const within = async <T>({ memory }: Followed, work: Promise<T>): Promise<T> => {
    const late = new AbortController();
    const begun = monotonic();
    const lost = async () => {
      for (let left = times.lostMs; left > 0; ) {
        await delay(left, undefined, { signal: late.signal, ref: false });
        left = times.lostMs - Math.min(monotonic() - begun, memory.silence());
      }
      throw new RetryableError(`the store has not answered for ${times.lostMs / 1000} s`);
    };
    const isLost = lost();
    isLost.catch(() => {});
    return Promise.race([work, isLost]).finally(() => late.abort());
  };
  /** Whether there are, or may be, changes that no turn has read in yet. */
  const lags = ({ feed, memory }: Followed) => feed.waiting?.() !== 'nothing' || memory.isBehind();
  /** Resolves once memory is as new as it has to be. */
  const wake = async (one: Followed): Promise<void> => {
    const must = !one.memory.isCurrent() || one.feed.waiting?.() === 'anything';
    const idle = isIdle(one);
    if (idle) options.onAsked?.();
    const slept = idle && lags(one);
    one.readAt = monotonic();
    if (must || slept || one.memory.age() > times.lostMs)
      one.waking ??= within(one, one.memory.turn()).finally(() => {
        one.waking = null;
      });
    if (one.waking === null) return;
    await one.waking.catch((error) => {
      if (must || age(one) > times.lostMs) throw error;
    });
  };
  const age = (one: Followed) => (handOver === undefined ? one.memory.age() : 0);

  /** Memory that answers without waiting; null where a turn has to bring it up first. */
  const warm = (): Followed | null => {
    const one = memories.get(currentStore());
    if (one === undefined || one.waking !== null || !one.memory.isCurrent()) return null;
    if (one.feed.waiting?.() === 'anything' || age(one) > times.lostMs) return null;
    if (isIdle(one)) {
      if (lags(one)) return null;
      options.onAsked?.();
    }
    one.readAt = monotonic();
    return one;
  };

  const readOf = async <T>(store: Store, make: (view: View) => T): Promise<Memo<T>> => {
    const one = followed(store);
    const woken = wake(one);
    // Readers that wait for the turn count, too: a batch handed over meanwhile then gets a turn of its own, which
    // nothing would ask for later.
    one.readers += 1;
    try {
      await woken;
      keepUp(one, store);
      return await one.memory.read(make);
    } finally {
      one.readers -= 1;
      keepUp(one, store);
    }
  };

  return {
    currentStore,
    read: async (make) => {
      const store = currentStore();
      return within(followed(store), readOf(store, make));
    },
    readNow: (make) => warm()?.memory.readNow(make) ?? null,
    stillHolds: (made) => warm()?.memory.holds(made) ?? false,
    age: () => {
      const one = memories.get(currentStore());
      return one === undefined ? 0 : age(one);
    },
    isFolding: () => {
      const store = storeNow();
      return store !== null && memories.get(store)?.memory.isFolding() === true;
    },
    idleMs: () => {
      const store = storeNow();
      const one = store === null ? undefined : memories.get(store);
      return one === undefined ? Number.POSITIVE_INFINITY : one.readers > 0 ? 0 : monotonic() - one.readAt;
    },
    monitoredAge: () => {
      const store = storeNow();
      // Readers are refused at once then and not counted, and none is needed: the process itself keeps looking for the
      // store.
      if (store === null) return monotonic() - begunAt;
      const one = memories.get(store);
      return one === undefined || isIdle(one) ? 0 : age(one);
    },
  };
}

interface Followed {
  memory: Memory;
  feed: Feed;
  /** When a reader last asked. */
  readAt: number;
  /** Reads under way, those that wait for a turn included. */
  readers: number;
  /** A turn that every reader waits for. */
  waking: Promise<void> | null;
  following: boolean;
}
