import { setTimeout as delay, setImmediate as othersTurn } from 'node:timers/promises';
import { asideOf, type Store } from '../../clickhouse/client.ts';
import { observed } from '../../clickhouse/observed-store.ts';
import { RetryableError } from '../../runtime/errors.ts';
import { attempt } from './attempt.ts';
import { type Cell, createCells, GONE, type Source } from './cells/cells.ts';
import type { Feed } from './feed.ts';
import { KINDS } from './kinds/kinds.ts';
import { createAnswerParts } from './memos/answer-parts.ts';
import { holds, type Memo } from './memos/memo.ts';
import { createRowParts } from './memos/row-parts.ts';
import { createRanked } from './ranked/ranked.ts';
import type { StateCells } from './state-cells.ts';
import { createTimeSlices } from './time-slices.ts';
import { createTurns } from './turns.ts';
import { type Overlay, openView, type View } from './view.ts';
import { createWallClock } from './wall-clock.ts';

export interface MemoryOptions {
  store: Store;
  feed: Feed;
  /** Unix milliseconds. */
  clock(): number;
  /** Milliseconds that only go forward. */
  monotonic(): number;
  /** Most bytes of the values of each kind, measured as JSON text. */
  maxBytes: number;
  /** Most policies that are ranked in memory; with more of them ClickHouse ranks. */
  mostRanked?: number | undefined;
}

/** The latest state of one database. */
export interface Memory {
  /** What `make` returns for memory at one moment; it is called again after something it lacked was loaded. */
  read<T>(make: (view: View) => T): Promise<Memo<T>>;
  /** The same without waiting; null where something would have to be loaded first. */
  readNow<T>(make: (view: View) => T): Memo<T> | null;
  /** Whether `made` still holds: made again now, it would be the same. */
  holds(made: Memo<unknown>): boolean;
  /** Brings memory up to what the store holds now. Calls made while a turn is under way resolve with the next one. */
  turn(): Promise<void>;
  /** Whether answers can be made of memory as it is; false before the first turn, and while any of it may be old. */
  isCurrent(): boolean;
  /** Whether another turn is needed: the last one failed, is under way, or could not settle what is missing. */
  isBehind(): boolean;
  /** Whether all rows of a requested kind are being read in the background; meanwhile keys are asked for one by one. */
  isFolding(): boolean;
  /** Milliseconds since the start of the last turn in which the store answered everything. */
  age(): number;
  /** Milliseconds since the store last answered anything. */
  silence(): number;
  /** Invalidates whatever was or will be made of this memory. Readers that are under way still finish with it. */
  invalidate(): void;
}

/** Attempts at one answer, each of which finds out what else it needs; within PATIENCE_MS there may be more. */
const MOST_ROUNDS = 16;
/**
 * What is missing may change in the store long before memory is notified of the batch that changes it: attempts go on
 * for at least this long.
 */
const PATIENCE_MS = 5_000;
const QUICK_ROUNDS = 4;
const BETWEEN_MS = 25;
/**
 * Reading all policies is faster than putting them in place, and with few connections whoever asks for a single policy
 * meanwhile gets it sooner.
 */
const ALL_CONNECTIONS = 2;
/** Room for histories of 40 quote assets: three years of days and six weeks of hours. */
const PARTS_BYTES = 112 * 1024 * 1024;
/** Room for printed rows of rankings, folded: 100,000 of them, or slightly fewer. */
const ROWS_BYTES = 64 * 1024 * 1024;

const NOTHING: Overlay = new Map();

const stateCell = (): Cell => ({ value: null, stamp: 0, until: Number.POSITIVE_INFINITY, usedAt: 0 });

export function createMemory(options: MemoryOptions): Memory {
  const { feed, monotonic, maxBytes, mostRanked } = options;
  const wall = createWallClock(options.clock);
  let heardAt = monotonic();
  const heard = () => {
    heardAt = monotonic();
  };
  const store = observed(options.store, heard);
  const beside = asideOf(options.store, 'all policies', ALL_CONNECTIONS);
  const cells = createCells(maxBytes);
  const state: StateCells = { progress: stateCell(), missing: stateCell(), ranked: stateCell() };
  const ranked = createRanked(observed(beside, heard), mostRanked);
  const [parts, rowParts] = [createAnswerParts(PARTS_BYTES), createRowParts(ROWS_BYTES)];
  const itself: Source = { stamp: 0, until: Number.POSITIVE_INFINITY, usedAt: 0 };
  const memory = { itself, cells, parts, rowParts, state, ranked, clock: 0 };
  const turns = createTurns({ ...{ store, feed, wall, monotonic, memory }, besideStore: options.store });

  return {
    turn: turns.turn,
    isCurrent: turns.isCurrent,
    isBehind: turns.isBehind,
    isFolding: turns.isFolding,
    age: () => monotonic() - turns.contactAt(),
    silence: () => monotonic() - heardAt,
    invalidate: () => {
      itself.stamp = GONE;
    },
    holds: (made) => {
      memory.clock = monotonic();
      return holds(made, wall.now(), memory.clock);
    },
    readNow: (make) => {
      if (!turns.hasCompletedTurn()) return null;
      memory.clock = monotonic();
      const slices = createTimeSlices(monotonic);
      slices.begin();
      const reading = openView(memory, wall.now(), NOTHING, slices);
      const { view, toMemo } = reading;
      const answer = attempt(() => make(view), reading);
      return answer && toMemo(answer.value);
    },
    read: async (make) => {
      if (!turns.hasCompletedTurn()) await turns.turn();
      let [own, slices, resets] = [turns.forReader(), createTimeSlices(monotonic), wall.resets()];
      const patientUntil = monotonic() + PATIENCE_MS;
      for (let rounds = 1; rounds <= MOST_ROUNDS || monotonic() < patientUntil; rounds += 1) {
        memory.clock = monotonic();
        // What this reader loaded by a clock that was put back since says nothing about now, nor does anything made of
        // it.
        if (wall.resets() !== resets)
          [own, slices, resets] = [turns.forReader(), createTimeSlices(monotonic), wall.resets()];
        slices.begin();
        const reading = openView(memory, wall.now(), own.overlay, slices);
        const { view, lacks, toMemo } = reading;
        const answer = attempt(() => make(view), reading);
        const isSettled = own.isSettled(!reading.isUnfinished()) && turns.isCurrent();
        if (answer !== null && isSettled) return toMemo(answer.value);
        if (reading.isUnfinished()) {
          // Continuing an unfinished answer does not count as a round.
          rounds -= 1;
          await othersTurn();
        }
        if (!isSettled) {
          await turns.turn();
          if (rounds > QUICK_ROUNDS) await delay(BETWEEN_MS);
        }
        const quick = [...lacks].filter(([kind]) => !KINDS[kind].slow);
        for (const [kind, keys] of quick) turns.want(kind, keys);
        if (reading.lacksRanked()) turns.wantRanked();
        const waits = quick.length > 0 || reading.lacksRanked() || reading.foundInconsistent();
        await Promise.all([waits ? turns.turn() : null, own.load(lacks)]);
        if (reading.lacksRanked()) {
          await ranked.whenBuilt();
          if (ranked.failure() !== undefined) throw ranked.failure();
        }
        for (const [kind] of quick) turns.throwIfReadFailed(kind);
      }
      throw new RetryableError('the data behind this answer changed faster than it could be read');
    },
  };
}
