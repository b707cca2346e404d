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
   * Whether sums that were loaded belong to what memory says is missing; where they do not, they are forgotten.
   * @param isWhole whether all of the answer is made of them: before, only sums that were read while that moved are
   */
  isSettled(isWhole: boolean): boolean;
}

export interface SlowReads {
  forReader(): ReaderLoads;
  /** A turn has published these changes. @param again is read anew by itself */
  published(changes: Changes | null, again: Keys): void;
}

interface SlowStores {
  store: Store;
  /** Where what is long is asked. */
  longStore: Store;
  /** Where is asked what somebody reads again and again: it waits for nobody who asks for something once. */
  againStore: Store;
}

interface Within {
  cells: Cells;
  clock(): number;
  /** Mark of what memory says is missing; null where it does not know. */
  mark(): string | null;
}

/** More than those who have had much may use: see the gate of reads. */
const SLOW_CONNECTIONS = 4;
/** A history asks several questions at once, and each takes the engine long: nobody who asks for less waits for them. */
const LONG_CONNECTIONS = 2;
const AGAIN_CONNECTIONS = 2;

/** A mark that none is. */
const MOVED = '';
/**
 * So often sums are asked again because what is missing moved while they were read. Where it moves all the time what is
 * missing behind them has to do: else nobody would be answered.
 */
const MOST_MOVED = 6;

interface Answered {
  loaded: LoadedKeys;
  /** Of what is missing, read behind sums; null: of no sums. */
  mark: string | null;
  /** Whether it was another before them: what came meanwhile they may lack. */
  hasMoved: boolean;
}

interface Flight {
  turn: number;
  answer: Promise<Answered>;
}

/**
 * Questions over much, asked by need and beside the turns, so that these do not wait for them. Readers of one turn share
 * an answer; it stays in memory where nothing that it is made of was written meanwhile.
 */
export function createSlowReads(options: Within & SlowStores): SlowReads {
  const { cells, clock, mark } = options;
  let turn = 0;
  /** The turn that last touched a kind. */
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
      // Whoever wants it is told why it could not be read; nobody does yet.
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
          // Where that finds no rest no sum is told.
          if (sumsAt === null || now === null || sumsAt.mark === now) return true;
          // It moves between the pieces, too: an answer of many would never be whole.
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

/** The same, on connections of their own beside those of a store. */
export const slowReadsBeside = (store: Store, within: Within): SlowReads =>
  createSlowReads({
    ...within,
    store: asideOf(store, 'slow reads', SLOW_CONNECTIONS),
    longStore: asideOf(store, 'long reads', LONG_CONNECTIONS),
    againStore: asideOf(store, 'reads again', AGAIN_CONNECTIONS),
  });
