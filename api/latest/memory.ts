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
  /** Of each kind, as text. */
  maxBytes: number;
  /** Policies that are ranked in memory; of more the engine is asked. */
  mostRanked?: number | undefined;
}

/** The latest state of one database. */
export interface Memory {
  /** What `make` makes of memory at one moment; called again where something had to be loaded first. */
  read<T>(make: (view: View) => T): Promise<Memo<T>>;
  /** The same without waiting; null where something would have to be loaded. */
  readNow<T>(make: (view: View) => T): Memo<T> | null;
  /** Whether it would be made the same now. */
  holds(made: Memo<unknown>): boolean;
  /** Brings memory to what the store has now. Those who ask while one is under way are told of the next. */
  turn(): Promise<void>;
  /** Whether it stands for what it was last told of; false before the first turn, and while anything may be old. */
  stands(): boolean;
  /** Whether a turn has yet to bring it what it was told of: the last one failed, or is under way. */
  isBehind(): boolean;
  /** Whether all that there is of what somebody asked for one of is being read, and the rest is asked for one by one. */
  isFolding(): boolean;
  /** Milliseconds since the store was last asked, and answered all. */
  age(): number;
  /** Milliseconds since it last answered anything. */
  silence(): number;
  /** What was made of it holds no more, nor does what is. Who reads it yet ends in it. */
  letGo(): void;
}

/** Rounds in which an answer learns what it needs. */
const MOST_ROUNDS = 16;
/** What is missing may have moved in the store long before memory is told, with the batch that moves it: for so long. */
const PATIENCE_MS = 5_000;
const QUICK_ROUNDS = 4;
const BETWEEN_MS = 25;
/** All policies are read faster than they are put in their places, and whoever asks for one meanwhile has it sooner. */
const ALL_CONNECTIONS = 2;
/** Three years of days and six weeks of hours, over 40 quote assets. */
const PARTS_BYTES = 112 * 1024 * 1024;
/** Rows of rankings as they are printed, folded: 100,000 of them, or a little less. */
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
    stands: turns.stands,
    isBehind: turns.isBehind,
    isFolding: turns.isFolding,
    age: () => monotonic() - turns.contactAt(),
    silence: () => monotonic() - heardAt,
    letGo: () => {
      itself.stamp = GONE;
    },
    holds: (made) => {
      memory.clock = monotonic();
      return holds(made, wall.now(), memory.clock);
    },
    readNow: (make) => {
      if (!turns.haveBegun()) return null;
      memory.clock = monotonic();
      const slices = createTimeSlices(monotonic);
      slices.begin();
      const reading = openView(memory, wall.now(), NOTHING, slices);
      const { view, made } = reading;
      const answer = attempt(() => make(view), reading);
      return answer && made(answer.value);
    },
    read: async (make) => {
      if (!turns.haveBegun()) await turns.turn();
      let [own, slices, wentOn] = [turns.forReader(), createTimeSlices(monotonic), wall.wentOn()];
      const patientUntil = monotonic() + PATIENCE_MS;
      for (let rounds = 1; rounds <= MOST_ROUNDS || monotonic() < patientUntil; rounds += 1) {
        memory.clock = monotonic();
        // What it has read for itself by a clock that was put back since says nothing of now, nor what was made of that.
        if (wall.wentOn() !== wentOn)
          [own, slices, wentOn] = [turns.forReader(), createTimeSlices(monotonic), wall.wentOn()];
        slices.begin();
        const reading = openView(memory, wall.now(), own.overlay, slices);
        const { view, lacks, made } = reading;
        const answer = attempt(() => make(view), reading);
        const isSettled = own.isSettled(!reading.isUnfinished()) && turns.stands();
        if (answer !== null && isSettled) return made(answer.value);
        if (reading.isUnfinished()) {
          // That something more is made of it is no round of its own.
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
        const waits = quick.length > 0 || reading.lacksRanked() || reading.misfits();
        await Promise.all([waits ? turns.turn() : null, own.load(lacks)]);
        if (reading.lacksRanked()) {
          await ranked.built();
          if (ranked.failure() !== undefined) throw ranked.failure();
        }
        for (const [kind] of quick) turns.mustHaveRead(kind);
      }
      throw new RetryableError('what an answer is made of changes faster than it can be read');
    },
  };
}
