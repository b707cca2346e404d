import { setTimeout as delay, setImmediate as othersTurn } from 'node:timers/promises';
import { addChanges, type Changes } from '../../clickhouse/changes.ts';
import { asideOf, type Store } from '../../clickhouse/client.ts';
import { observed } from '../../clickhouse/observed-store.ts';
import {
  type AppliedState,
  appliedState,
  missingMark,
} from '../../clickhouse/queries/progress/index-state.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import { RetryableError } from '../../runtime/errors.ts';
import { attempt } from './attempt.ts';
import { addKey, type Cell, createCells, GONE, type Keys, type Source } from './cells/cells.ts';
import { foundFor, type LoadedKeys, loadKeys, startLoads } from './cells/load.ts';
import { replace } from './cells/replace.ts';
import { dropSlow, forgetTouched, planOf } from './cells/touched.ts';
import type { Feed } from './feed.ts';
import { createFolding } from './folded/folding.ts';
import { glanceAtMissing, type IndexState, type Missing, missingByMark, stateOf } from './index-state.ts';
import { KINDS, type KindName } from './kinds/kinds.ts';
import { createAnswerParts } from './memos/answer-parts.ts';
import { holds, type Memo } from './memos/memo.ts';
import { createRowParts } from './memos/row-parts.ts';
import { createRanked } from './ranked/ranked.ts';
import { slowReadsBeside } from './slow-reads.ts';
import type { StateCells } from './state-cells.ts';
import { createTimeSlices } from './time-slices.ts';
import { type Overlay, openView, type View } from './view.ts';

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

/** Between two looks at what is missing; beyond them sums are absent for that reason. */
const MOST_LOOKS = 3;
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
  const { feed, clock, monotonic, maxBytes, mostRanked } = options;
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
  let wantsRanked = false;
  let missing: Missing | null = null;
  let isSettled = false;
  const markNow = () => (isSettled ? (missing?.mark ?? null) : null);
  let contactAt = Number.NEGATIVE_INFINITY;
  let [begun, moved] = [false, true];
  let wants: Keys = new Map();
  /** Taken from the feed, and not in memory yet; null: anything. */
  let carried: Changes | null = null;
  const failures = new Map<KindName, unknown>();

  const carry = (taken: Changes | null) => {
    if (taken === null) carried = null;
    else if (carried !== null) addChanges(carried, taken);
  };
  const publish = (loads: LoadedKeys, drop: Keys) => {
    const again = carried === null ? new Map() : dropSlow(carried, cells, memory.clock);
    if (carried === null) cells.clear();
    else forgetTouched(carried, cells, loads);
    for (const [kind, keys] of drop) for (const key of keys) cells.drop(kind, key);
    for (const [kind, { keys, values, error }] of loads) {
      if (error === undefined) failures.delete(kind);
      else failures.set(kind, error);
      for (const key of keys) {
        if (error !== undefined) cells.drop(kind, key);
        else cells.set(kind, key, foundFor(kind, key, values), memory.clock);
      }
    }
    slow.published(carried, again);
    carried = new Map();
  };
  const publishState = (applied: AppliedState, known: Missing) => {
    const value = stateOf(applied, known, isSettled);
    const { gaps, openGaps, incomplete, historyReason } = value;
    replace(state.progress, value, [applied]);
    // The mark stands for the incomplete transactions and the gaps that were closed, which may be many.
    const marked = [markNow(), incomplete.undatedEvents];
    const whole = [gaps.length, gaps[0]?.from_slot, gaps.filter(({ begin }) => begin !== null)];
    replace(state.missing, value, [...marked, ...whole, openGaps, historyReason]);
  };

  const work = async (): Promise<void> => {
    const startedAt = monotonic();
    const wanted = wants;
    wants = new Map();
    const sums = wantsRanked || [...wanted.keys()].some((kind) => KINDS[kind].sums);
    wantsRanked = false;
    // Sums take what has changed, too: where the turn fails behind that, nobody tells of it again.
    moved = (await feed.moved()) || moved || sums;
    const first = folding.begin(wanted.keys());
    try {
      if (moved) await bringUp(wanted);
      // Nothing has changed: what is wanted is added to what is there.
      else if (wanted.size > 0) publish(await loadKeys(store, wanted, clock()), new Map());
    } finally {
      // Where the turn failed, too: nothing more is read of a kind while a stretch of it has no place.
      (await first)();
    }
    folding.goOn(memory.clock);
    contactAt = startedAt;
  };
  const bringUp = async (wanted: Keys): Promise<void> => {
    let before = markNow() ?? (await missingMark(store));
    // What has changed was hardly ever written before the marker that stood when it was read last.
    const since = (state.progress.value as IndexState | null)?.applied.slot ?? null;
    for (let looks = 1; ; looks += 1) {
      // The marker before what was changed up to it, that before the rows, and last what is missing from them.
      const applied = await appliedState(store);
      carry(await feed.take());
      const { load, drop } = planOf(wanted, carried, cells, memory.clock);
      const loading = startLoads(store, load, clock(), { cells, changes: carried, since });
      const [loaded, order] = await Promise.all([
        loading.all,
        ranked.load(store, carried, clock(), memory.clock, loading.read),
      ]);
      const mark = await missingMark(store);
      const settled = mark === before ? await missingByMark(store, missing, mark) : null;
      if (settled === null && looks <= MOST_LOOKS) {
        before = mark === before ? await missingMark(store) : mark;
        continue;
      }
      missing = settled ?? missing ?? (await glanceAtMissing(store));
      isSettled = settled !== null;
      order();
      state.ranked.stamp = ranked.version();
      publish(loaded, drop);
      publishState(applied, missing);
      // What could not be told of what is missing is looked at again, though nothing may come any more.
      moved = !isSettled;
      begun = true;
      return;
    }
  };
  const folding = createFolding({
    ...{ store, cells, clock, monotonic },
    mark: markNow,
    // Whoever waits for a ranking waits for all policies.
    before: () => ranked.built(),
  });
  const together = createBatcher<null, void>({
    work,
    sizeOf: () => 0,
    most: 0,
    isOfOne: () => false,
  });
  const turn = () => together(null);
  // A flood of pages that nobody has asked for before must not keep memory from what everybody asks for.
  const slow = slowReadsBeside(options.store, { cells, clock, mark: markNow });

  return {
    turn,
    stands: () => begun && carried !== null,
    isBehind: () => moved,
    isFolding: () => folding.isUnderWay(),
    age: () => monotonic() - contactAt,
    silence: () => monotonic() - heardAt,
    letGo: () => {
      itself.stamp = GONE;
    },
    holds: (made) => {
      memory.clock = monotonic();
      return holds(made, clock(), memory.clock);
    },
    readNow: (make) => {
      if (!begun) return null;
      memory.clock = monotonic();
      const slices = createTimeSlices(monotonic);
      slices.begin();
      const reading = openView(memory, clock(), NOTHING, slices);
      const { view, made } = reading;
      const answer = attempt(() => make(view), reading);
      return answer && made(answer.value);
    },
    read: async (make) => {
      if (!begun) await turn();
      const own = slow.forReader();
      const slices = createTimeSlices(monotonic);
      const patientUntil = monotonic() + PATIENCE_MS;
      for (let rounds = 1; rounds <= MOST_ROUNDS || monotonic() < patientUntil; rounds += 1) {
        memory.clock = monotonic();
        slices.begin();
        const reading = openView(memory, clock(), own.overlay, slices);
        const { view, lacks, made } = reading;
        const answer = attempt(() => make(view), reading);
        const isSettled = own.isSettled();
        if (answer !== null && isSettled) return made(answer.value);
        if (reading.isUnfinished()) {
          // That something more is made of it is no round of its own.
          rounds -= 1;
          await othersTurn();
        }
        if (!isSettled) {
          await turn();
          if (rounds > QUICK_ROUNDS) await delay(BETWEEN_MS);
        }
        const quick = [...lacks].filter(([kind]) => !KINDS[kind].slow);
        for (const [kind, keys] of quick) for (const key of keys) addKey(wants, kind, key);
        wantsRanked ||= reading.lacksRanked();
        const waits = quick.length > 0 || reading.lacksRanked() || reading.misfits();
        await Promise.all([waits ? turn() : null, own.load(lacks)]);
        if (reading.lacksRanked()) {
          await ranked.built();
          if (ranked.failure() !== undefined) throw ranked.failure();
        }
        for (const [kind] of quick) if (failures.has(kind)) throw failures.get(kind);
      }
      throw new RetryableError('what an answer is made of changes faster than it can be read');
    },
  };
}
