import type { Changes } from '../../clickhouse/changes.ts';
import { asideOf, type Store } from '../../clickhouse/client.ts';
import { missingMark } from '../../clickhouse/queries/progress/index-state.ts';
import { type Cell, type Cells, GONE, type Keys } from './cells/cells.ts';
import { foundFor, type LoadedKeys, loadKeys } from './cells/load.ts';
import { touches } from './cells/touched.ts';
import { KINDS, type KindName } from './kinds/kinds.ts';
import type { Overlay } from './view.ts';

/** What one reader has loaded for itself. */
export interface ReaderLoads {
  overlay: Overlay;
  /** Loads the slow kinds among these keys. */
  load(lacks: Keys): Promise<void>;
  /**
   * Whether the sums loaded here match what memory says is missing; where they do not, they are dropped.
   * @param isWhole whether the answer is complete; until then, only sums during whose read that changed are dropped
   */
  isSettled(isWhole: boolean): boolean;
}

export interface SlowReads {
  forReader(): ReaderLoads;
  /** A turn has published these changes. @param again keys to read again without a reader asking for them */
  published(changes: Changes | null, again: Keys): void;
}

interface SlowStores {
  store: Store;
  /** For reads of `long` kinds. */
  longStore: Store;
  /** For keys that are read again and again: they wait for no one-off request. */
  againStore: Store;
}

interface Within {
  cells: Cells;
  clock(): number;
  /** Mark of what memory says is missing; null where that is not settled. */
  mark(): string | null;
}

/** More than the clients that have had much may use together: see `createReadGate`. */
const SLOW_CONNECTIONS = 4;
/** A history sends several queries at once, and each takes ClickHouse long: shorter reads do not wait for them. */
const LONG_CONNECTIONS = 2;
const AGAIN_CONNECTIONS = 2;

/** Equals no real mark, so that sums carrying it never count as settled. */
const MOVED = '';
/**
 * How often sums are read again because what is missing changed during the read. Where it changes all the time, the
 * mark read after them has to do: otherwise no reader would be answered.
 */
const MOST_MOVED = 6;

interface Answered {
  loaded: LoadedKeys;
  /** Mark of what is missing, read after the sums; null for kinds that are no sums. */
  mark: string | null;
  /** Whether the mark was another before the read: the sums may lack what came in meanwhile. */
  hasMoved: boolean;
}

interface Flight {
  turn: number;
  answer: Promise<Answered>;
}

/**
 * Queries over many rows, sent on demand and beside the turns, so that these do not wait for them. Readers within one
 * turn share an answer; it stays in memory unless something that it is made of was written meanwhile.
 */
export function createSlowReads(options: Within & SlowStores): SlowReads {
  const { cells, clock, mark } = options;
  let turn = 0;
  /** The turn whose changes last touched a kind. */
  const touchedIn = new Map<KindName, number>();
  const flights = new Map<string, Flight>();

  const storeOf = (kind: KindName) => (KINDS[kind].long ? options.longStore : options.store);
  const ask = async (kind: KindName, key: string, store: Store): Promise<Answered> => {
    const begun = turn;
    const before = mark();
    const loaded = await loadKeys(store, new Map([[kind, new Set([key])]]), clock(), cells);
    const { sums } = KINDS[kind];
    const at = sums ? await missingMark(store) : null;
    const hasMoved = sums && at !== before;
    const one = loaded.get(kind);
    const isOld = (touchedIn.get(kind) ?? 0) > begun || hasMoved || (sums && at !== mark());
    if (one !== undefined && one.error === undefined && !isOld)
      cells.set(kind, key, foundFor(kind, key, one.values), 0);
    return { loaded, mark: at, hasMoved };
  };
  const load = (kind: KindName, key: string, store = storeOf(kind)): Promise<Answered> => {
    const name = `${kind} ${key}`;
    const known = flights.get(name);
    if (known !== undefined && known.turn === turn) return known.answer;
    const flight: Flight = { turn, answer: ask(kind, key, store) };
    flights.set(name, flight);
    const over = () => {
      if (flights.get(name) === flight) flights.delete(name);
    };
    flight.answer.then(over, over);
    return flight.answer;
  };

  return {
    published: (changes, again) => {
      turn += 1;
      for (const kind of Object.keys(KINDS) as KindName[])
        if (KINDS[kind].slow && touches(changes, kind)) touchedIn.set(kind, turn);
      // A reader that joins this read gets its error; nobody waits for it yet.
      for (const [kind, keys] of again)
        for (const key of keys) load(kind, key, options.againStore).catch(() => {});
    },
    forReader: () => {
      const overlay: Overlay = new Map();
      let sumsAt: { mark: string } | null = null;
      let moved = 0;
      return {
        overlay,
        isSettled: (isWhole) => {
          const now = mark();
          // Null while what is missing is not settled: no sum is served then.
          if (sumsAt === null || now === null || sumsAt.mark === now) return true;
          // The mark changes between the pieces of a long answer, too: checked at each, the answer would never be
          // complete.
          if (!isWhole && sumsAt.mark !== MOVED) return true;
          for (const [kind, loaded] of overlay) {
            if (!KINDS[kind].sums) continue;
            for (const cell of loaded.values()) cell.stamp = GONE;
            overlay.delete(kind);
          }
          sumsAt = null;
          return false;
        },
        load: async (lacks) => {
          const slow = [...lacks].filter(([kind]) => KINDS[kind].slow);
          if (slow.length === 0) return;
          const loads = slow.flatMap(([kind, keys]) => [...keys].map((key) => load(kind, key)));
          const answers = await Promise.all(loads);
          if (answers.some(({ hasMoved }) => hasMoved)) moved += 1;
          for (const { loaded, mark, hasMoved } of answers) {
            const at = hasMoved && moved <= MOST_MOVED ? MOVED : mark;
            if (at !== null) sumsAt = { mark: sumsAt !== null && sumsAt.mark !== at ? MOVED : at };
            for (const [kind, { keys, values, error }] of loaded) {
              if (error !== undefined) throw error;
              const own = overlay.get(kind) ?? new Map<string, Cell>();
              overlay.set(kind, own);
              for (const key of keys) {
                const before = own.get(key);
                if (before !== undefined) before.stamp = GONE;
                const { value } = foundFor(kind, key, values);
                own.set(key, { value, stamp: 0, until: Number.POSITIVE_INFINITY, usedAt: 0 });
              }
            }
          }
        },
      };
    },
  };
}

/** Slow reads on connections of their own, beside those of a store. */
export const slowReadsBeside = (store: Store, within: Within): SlowReads =>
  createSlowReads({
    ...within,
    store: asideOf(store, 'slow reads', SLOW_CONNECTIONS),
    longStore: asideOf(store, 'long reads', LONG_CONNECTIONS),
    againStore: asideOf(store, 'reads again', AGAIN_CONNECTIONS),
  });
