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

/** The turns in which memory is brought up to what the store holds. */
export interface Turns {
  /** Runs a turn. Calls made while one is under way resolve with the next one. */
  turn(): Promise<void>;
  /** Whether a turn has completed. */
  hasCompletedTurn(): boolean;
  /** Whether answers can be made of memory as it is. */
  isCurrent(): boolean;
  /** Whether another turn is needed: the last one failed, is under way, or could not settle what is missing. */
  isBehind(): boolean;
  isFolding(): boolean;
  /** When the last completed turn began, in milliseconds that only go forward. */
  contactAt(): number;
  /** Has the next turn load these keys, too. */
  want(kind: KindName, keys: Iterable<string>): void;
  wantRanked(): void;
  /** @throws the error that kept wanted keys of this kind from being read */
  throwIfReadFailed(kind: KindName): void;
  /** The loads of slow kinds for one reader, beside the turns. */
  forReader: SlowReads['forReader'];
}

export interface TurnsOptions {
  store: Store;
  /** The same store, unobserved: answers to reads beside the turns say nothing about whether it answers the turns. */
  besideStore: Store;
  feed: Feed;
  wall: WallClock;
  /** Milliseconds that only go forward. */
  monotonic(): number;
  memory: { cells: Cells; state: StateCells; ranked: Ranked; readonly clock: number };
}

/** Repeats of a turn's reads because what is missing changed meanwhile; after them sums are absent for that reason. */
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
  /** Changes taken from the feed that are not in memory yet; null: anything may have changed. */
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
    // The mark stands in for the incomplete transactions and the closed gaps, which may be many.
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
    // Wanted sums have the changes taken as well. `moved` stays set until that succeeds: if the turn fails after taking
    // them, nobody notifies of them again.
    moved = (await feed.mayHaveChanges()) || moved || sums || wall.wasPutBack();
    const first = folding.begin(wanted.keys());
    try {
      if (moved) await bringUp(wanted);
      // Nothing has changed: the wanted keys are added to what is there.
      else if (wanted.size > 0) publish(await loadKeys(store, wanted, clock(), cells), new Map());
    } finally {
      // Even if the turn failed: no more is read of a kind while a stretch that was read is not put in place.
      (await first)();
    }
    folding.readMore(memory.clock);
    contactAt = startedAt;
  };
  const bringUp = async (wanted: Keys): Promise<void> => {
    let before = markNow() ?? (await missingMark(store));
    // Changed rows are hardly ever written in slots before the marker that was read last.
    const since = (state.progress.value as IndexState | null)?.applied.slot ?? null;
    for (let looks = 1; ; looks += 1) {
      // In this order: the marker, the changes up to it, their rows, and last what is missing from those.
      const applied = await appliedState(store);
      carry(await feed.take());
      if (wall.wasPutBack()) {
        carry(null);
        wall.reset();
      }
      const { load, drop } = planOf(wanted, carried, cells, memory.clock);
      const now = clock();
      const loading = startLoads(store, load, now, cells, { changes: carried, slot: since });
      const [loaded, order] = await Promise.all([
        loading.all,
        ranked.load(store, carried, now, memory.clock, loading.read),
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
      // If what is missing could not be settled, the next turn looks again, even if no change comes any more.
      moved = !isSettled;
      begun = true;
      return;
    }
  };
  const folding = createFolding({
    ...{ store, cells, clock, monotonic },
    mark: markNow,
    // First the policies of a ranking: its readers wait for all of them.
    before: () => ranked.whenBuilt(),
  });
  const together = createBatcher<null, void>({
    work,
    sizeOf: () => 0,
    most: 0,
    isDueToOneItem: () => false,
  });
  // A flood of requests for pages that are not in memory must not hold up the turns, which every reader depends on.
  const slow = slowReadsBeside(options.besideStore, { cells, clock, mark: markNow });

  return {
    turn: () => together(null),
    hasCompletedTurn: () => begun,
    isCurrent: () => begun && carried !== null && !wall.wasPutBack(),
    isBehind: () => moved,
    isFolding: () => folding.isUnderWay(),
    contactAt: () => contactAt,
    want: (kind, keys) => {
      for (const key of keys) addKey(wants, kind, key);
    },
    wantRanked: () => {
      wantsRanked = true;
    },
    throwIfReadFailed: (kind) => {
      if (failures.has(kind)) throw failures.get(kind);
    },
    forReader: slow.forReader,
  };
}
