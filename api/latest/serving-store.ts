import type { Store } from '../../clickhouse/client.ts';
import { appliedOffsets, type Offsets, reaches } from '../../clickhouse/queries/progress/applied-offsets.ts';
import { schemaMustBeCurrent } from '../../clickhouse/schema/migrate.ts';
import { readServing } from '../../clickhouse/serving/serving.ts';
import { redacted } from '../../runtime/config/secrets.ts';
import { ConfigError, messageOf, RetryableError } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import { NotReadyError } from '../../runtime/process/readiness.ts';

export interface ServingStore {
  /**
   * The serving database; an answer asks for it once and keeps it. @throws RetryableError before the first connection.
   */
  currentStore(): Store;
  /** Resolves after the first attempt to reach the store, whether or not it was there. */
  firstAttempt: Promise<void>;
  /** Rejects once the serving database turns out to be one that must not be served. */
  refused: Promise<never>;
  /** Throws where no serving database answers; if one is there but cannot serve yet, the error says what it lacks. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

export interface ServingOptions {
  /** Opens the database that CLICKHOUSE_URL names. */
  openHome(): Promise<Store>;
  /** Opens another database on the same server. */
  openDatabase(name: string): Promise<Store>;
  /**
   * Whether a database says that it is this program's. One that does not say so yet is served, and asked again.
   * @throws ConfigError where it says that it is not.
   */
  isOfProgram(store: Store): Promise<boolean>;
  signal: AbortSignal;
  onError(error: unknown): void;
  onSwitched?(database: string): void;
  times?: Partial<ServingTimes>;
}

export interface ServingTimes {
  /** Between two checks of which database serves: it only changes with a replay, and each process asks all the time. */
  everyMs: number;
  /** For how long a new serving database may be behind the one it replaces; after that it serves all the same. */
  catchUpMs: number;
  /** For how long the replaced database has to stand still: live data goes elsewhere then. Longer than a slot. */
  stillMs: number;
  /** For how long an answer may go on with the database it began with. */
  graceMs: number;
}

const TIMES: ServingTimes = { everyMs: 1_000, catchUpMs: 10_000, stillMs: 500, graceMs: 120_000 };
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

/**
 * Follows the serving database in the background, trying for ever, so that the process answers while the store is down.
 * After a switch the former database serves on until the new one has applied all that the former has and the former
 * stands still: a figure that a reader has seen is not taken back.
 */
export function serveFrom(options: ServingOptions): ServingStore {
  const { signal, onError } = options;
  const times = { ...TIMES, ...options.times };
  let home: Store | null = null;
  let current: Store | null = null;
  const retired = new Map<Store, NodeJS.Timeout>();
  /** The database that is to replace the current one; `still`: what the current one has applied, and since when. */
  let next: { store: Store; since: number; still: { offsets: Offsets; since: number } | null } | null = null;
  let lacks: string | null = null;

  const retire = (store: Store) => {
    if (store === home) return;
    const close = () => {
      retired.delete(store);
      store.close().catch(onError);
    };
    retired.set(store, setTimeout(close, times.graceMs));
  };
  const discardNext = async () => {
    const store = next?.store;
    next = null;
    if (store !== undefined && store !== home) await store.close();
  };
  const said = new WeakSet<Store>();
  const check = async (store: Store) => {
    if (!said.has(store) && (await options.isOfProgram(store))) said.add(store);
  };
  const look = async () => {
    home ??= await options.openHome();
    const { database } = await readServing(home);
    if (current?.database === database) {
      await check(current);
      return discardNext();
    }
    if (next?.store.database !== database) {
      await discardNext();
      const store = database === home.database ? home : await options.openDatabase(database);
      next = { store, since: performance.now(), still: null };
    }
    await check(next.store);
    // The schema of a database that serves already is not checked again: a newer version may migrate it meanwhile.
    await schemaMustBeCurrent(next.store);
    if (current !== null && performance.now() - next.since < times.catchUpMs) {
      const [before, after] = await Promise.all([appliedOffsets(current), appliedOffsets(next.store)]);
      const now = performance.now();
      if (next.still === null || !reaches(next.still.offsets, before))
        next.still = { offsets: before, since: now };
      if (now - next.still.since < times.stillMs || !reaches(after, before)) return;
    }
    if (current !== null) retire(current);
    current = next.store;
    next = null;
    options.onSwitched?.(database);
  };
  const looked = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<never>();
  refused.promise.catch(() => undefined);
  const following = (async () => {
    for (let wait = FIRST_WAIT_MS; !signal.aborted; ) {
      try {
        await look().finally(looked.resolve);
        wait = FIRST_WAIT_MS;
        // A database that is about to serve is checked more often until it does.
        await pause(next === null ? times.everyMs : Math.min(times.everyMs, times.stillMs / 2), signal);
      } catch (error) {
        if (error instanceof ConfigError) return refused.reject(error);
        lacks = error instanceof RetryableError ? messageOf(error) : null;
        onError(error);
        await pause(wait, signal);
        wait = Math.min(wait * 2, LONGEST_WAIT_MS);
      }
    }
  })();
  const currentStore = () => {
    if (current === null) throw new RetryableError('the database is not connected yet');
    return current;
  };
  return {
    currentStore,
    firstAttempt: looked.promise,
    refused: refused.promise,
    probe: async () => {
      if (current === null && lacks !== null) throw new NotReadyError(redacted(lacks));
      await currentStore().query('SELECT 1');
    },
    close: async () => {
      await following;
      for (const timer of retired.values()) clearTimeout(timer);
      const open = new Set([home, current, next?.store ?? null, ...retired.keys()]);
      await Promise.all([...open].map((store) => store?.close()));
    },
  };
}
