import { addChanges, type Changes } from '../../clickhouse/changes.ts';
import type { Store } from '../../clickhouse/client.ts';
import {
  type AppliedState,
  appliedState,
  missingMark,
} from '../../clickhouse/queries/progress/index-state.ts';
import { createBatcher } from '../../runtime/batcher.ts';
import { addKey, type Cells, type Keys } from './cells/cells.ts';
import { foundFor, type LoadedKeys, loadKeys, startLoads } from './cells/load.ts';
import { replace } from './cells/replace.ts';
import { dropSlow, forgetTouched, planOf } from './cells/touched.ts';
import type { Feed } from './feed.ts';
import { createFolding } from './folded/folding.ts';
import { glanceAtMissing, type IndexState, type Missing, missingByMark, stateOf } from './index-state.ts';
import { KINDS, type KindName } from './kinds/kinds.ts';
import type { Ranked } from './ranked/ranked.ts';
import { type SlowReads, slowReadsBeside } from './slow-reads.ts';
import type { StateCells } from './state-cells.ts';
import type { WallClock } from './wall-clock.ts';

/** The turns in which memory is brought to what the store has. */
export interface Turns {
  /** Those who ask while one is under way are told of the next. */
  turn(): Promise<void>;
  /** Whether one has come through. */
  haveBegun(): boolean;
  /** Whether memory stands for what it was last told of. */
  stands(): boolean;
  /** Whether one has yet to bring what memory was told of: the last one failed, or is under way. */
  isBehind(): boolean;
  isFolding(): boolean;
  /** Milliseconds, of those that only go forward, at which the last one began that came through. */
  contactAt(): number;
  /** The next one brings these, too. */
  want(kind: KindName, keys: Iterable<string>): void;
  wantRanked(): void;
  /** @throws why what was wanted of a kind could not be read */
  mustHaveRead(kind: KindName): void;
  /** What is read slowly, beside the turns, by one who reads. */
  forReader: SlowReads['forReader'];
}

export interface TurnsOptions {
  store: Store;
  /** The same, unobserved: who reads it beside says nothing of whether it answers. */
  besideStore: Store;
  feed: Feed;
  wall: WallClock;
  /** Milliseconds that only go forward. */
  monotonic(): number;
  memory: { cells: Cells; state: StateCells; ranked: Ranked; readonly clock: number };
}

/** Between two looks at what is missing; beyond them sums are absent for that reason. */
const MOST_LOOKS = 3;

export function createTurns(options: TurnsOptions): Turns {
  const { store, feed, wall, monotonic, memory } = options;
  const clock = wall.now;
  const { cells, state, ranked } = memory;
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
    moved = (await feed.moved()) || moved || sums || wall.wasPutBack();
    const first = folding.begin(wanted.keys());
    try {
      if (moved) await bringUp(wanted);
      // Nothing has changed: what is wanted is added to what is there.
      else if (wanted.size > 0) publish(await loadKeys(store, wanted, clock(), cells), new Map());
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
      if (wall.wasPutBack()) {
        carry(null);
        wall.goOn();
      }
      const { load, drop } = planOf(wanted, carried, cells, memory.clock);
      const loading = startLoads(store, load, clock(), cells, { changes: carried, slot: since });
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
  // A flood of pages that nobody has asked for before must not keep memory from what everybody asks for.
  const slow = slowReadsBeside(options.besideStore, { cells, clock, mark: markNow });

  return {
    turn: () => together(null),
    haveBegun: () => begun,
    stands: () => begun && carried !== null && !wall.wasPutBack(),
    isBehind: () => moved,
    isFolding: () => folding.isUnderWay(),
    contactAt: () => contactAt,
    want: (kind, keys) => {
      for (const key of keys) addKey(wants, kind, key);
    },
    wantRanked: () => {
      wantsRanked = true;
    },
    mustHaveRead: (kind) => {
      if (failures.has(kind)) throw failures.get(kind);
    },
    forReader: slow.forReader,
  };
}
