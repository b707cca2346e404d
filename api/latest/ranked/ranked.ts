import { addChanges, type ChangedTable, type Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { GONE } from '../cells/cells.ts';
import { type AlreadyRead, NOTHING_READ } from '../kinds/already-read.ts';
import { applyLoad, noRows, type Rows, touchedNothing } from './apply.ts';
import { type Build, startBuild } from './build.ts';
import { loadRanked, type RankedLoad, type RankedNeed } from './load.ts';
import { createOrders, type RankedSelection, type RowsPage } from './ranking.ts';
import { moveOn, type RankedRow } from './row.ts';

/** The orders of all policies, and what their rows show, in memory. */
export interface Ranked {
  /** Whether the orders can answer; `lacking`: the next turn reads what they lack; `engine`: policies are too many. */
  look(need: RankedNeed, now: number): 'ready' | 'lacking' | 'engine';
  page(selection: RankedSelection): RowsPage;
  /** How many policies there are. */
  size(): number;
  /** The quote assets of all policies. */
  quotes(): readonly string[];
  /** Unix milliseconds from which on the first of the counts of 24 hours changes by itself. */
  until(): number;
  /** Reads what changed since the last load; the function it resolves to puts that in place, without waiting. */
  load(
    store: Store,
    changes: Changes | null,
    now: number,
    clock: number,
    read?: AlreadyRead,
  ): Promise<() => void>;
  /** Resolves once no build of all rows is under way. */
  whenBuilt(): Promise<void>;
  /** The error that kept the last turn from bringing the orders up; undefined where none did. */
  failure(): unknown;
  /** Notes that a reader asked. */
  markInUse(clock: number): void;
  /** Changes where policies come or go, and where changes are known that are not in place yet. */
  version(): number;
}

/**
 * With more, even if they come one by one, ClickHouse ranks: so many rows are 0.54 GB, their orders as much as
 * MOST_PLACES says; 1 GB together.
 */
const MOST_POLICIES = 400_000;
/** After this long without a reader, changes are only gathered, and read once a reader asks. */
const WARM_MS = 10_000;
/** Where one window has to be read again, those that will have to be within this time are read with it. */
const SOON_MS = 10_000;
/** Where there were too many policies, they are counted again this often while there are readers. */
const COUNTED_MS = 60_000;

const TABLES: ReadonlySet<ChangedTable> = new Set([
  ...(['policies', 'pools', 'curve_configs', 'token_accounts', 'policy_totals'] as const),
  ...(['events', 'mints', 'metadata_accounts', 'metadata_documents'] as const),
]);

/** @param beside the store that all policies are read from, beside the turns */
export function createRanked(beside: Store, most = MOST_POLICIES): Ranked {
  let rows = noRows();
  let build: Build | null = null;
  const orders = createOrders();
  let loaded: RankedNeed | null = null;
  let wanted: RankedNeed | null = null;
  let pending: Changes = new Map();
  let tooMany = false;
  let countedAt = Number.NEGATIVE_INFINITY;
  let quotes: readonly string[] = [];
  let until = Number.POSITIVE_INFINITY;
  let usedAt = Number.NEGATIVE_INFINITY;
  let version = 0;
  let failure: unknown;

  const serves = (need: RankedNeed) => loaded !== null && loaded.launchpad === need.launchpad;
  /**
   * Moves the windows of 24 hours on to this moment. @returns whether all of them could be computed from what is known
   */
  const movedOn = (now: number): boolean => {
    if (now < until) return true;
    const touched = touchedNothing();
    let all = true;
    for (const row of rows.byMint.values()) {
      if (row.until > now) continue;
      all = moveOn(row, now) && all;
      row.stamp += 1;
      touched.activity.add(row);
    }
    orders.touch(touched);
    until = leastUntil(rows.byMint.values());
    return all;
  };

  return {
    look: (need, now) => {
      if (tooMany) return 'engine';
      if (serves(need) && pending.size === 0 && movedOn(now)) return 'ready';
      wanted = need;
      return 'lacking';
    },
    page: (selection) => orders.page(rows.byAddress, selection),
    size: () => rows.byAddress.size,
    quotes: () => quotes,
    until: () => until,
    version: () => version,
    markInUse: (clock) => {
      usedAt = clock;
    },
    whenBuilt: async () => build?.done,
    failure: () => failure,
    load: async (store, changes, now, clock, read = NOTHING_READ) => {
      const need = wanted ?? loaded;
      const later = () => {
        // With too many policies nothing is read: their changes would be gathered for ever.
        if (tooMany && build === null) return;
        const some = concerning(changes ?? new Map());
        if (changes === null) loaded = null;
        else addChanges(pending, some);
        // Whatever was made of the orders as they stand no longer holds.
        if (changes === null || some.size > 0) version += 1;
      };
      // What was written during a build is unknown: its rows cannot be brought up to date.
      if (changes === null) build = null;
      if (need === null || (wanted === null && clock - usedAt > WARM_MS)) return later;
      if (tooMany && (clock - usedAt > WARM_MS || clock - countedAt < COUNTED_MS)) return later;
      const anew = changes === null || !serves(need);
      if (anew && build?.need.launchpad !== need.launchpad) {
        build = startBuild(beside, need, now, most);
        // The rows from before are no longer updated from here on.
        loaded = null;
        pending = new Map();
        failure = undefined;
      }
      const base = anew ? build : { result: { rows } };
      if (base === null || base.result === null) return later;
      if (base.result === 'too many' || 'error' in base.result) return () => giveUp(base.result, clock);
      const all: Changes = new Map();
      addChanges(all, pending);
      addChanges(all, concerning(changes ?? new Map()));
      const expired = anew || until <= now ? expiredAt(base.result.rows, now) : [];
      if (!anew && expired.length === 0 && all.size === 0) return () => {};
      try {
        const load = await loadRanked(store, base.result.rows, all, {
          launchpad: need.launchpad,
          now,
          expired,
          read,
        });
        const of = base.result.rows;
        return () => publish(need, of, load, now, clock);
      } catch (error) {
        return () => {
          failure = error;
          later();
        };
      }
    },
  };

  function giveUp(result: Build['result'], clock: number): void {
    countedAt = clock;
    if (result === 'too many') tooMany = true;
    else if (result !== null && 'error' in result) failure = result.error;
    build = null;
  }

  /** Replaces all rows; whatever was made of the former ones no longer holds. */
  function replaceRows(by: Rows): void {
    orders.clear();
    for (const row of rows.byAddress.values()) row.stamp = GONE;
    rows = by;
  }

  /** Drops all rows, since policies have become too many one by one. */
  function letGo(clock: number): void {
    replaceRows(noRows());
    quotes = [];
    loaded = null;
    version += 1;
    giveUp('too many', clock);
  }

  function publish(need: RankedNeed, of: Rows, load: RankedLoad, now: number, clock: number): void {
    const anew = of !== rows;
    build = null;
    if (anew) replaceRows(of);
    const { touched, members } = applyLoad(rows, load, now);
    pending = new Map();
    wanted = null;
    failure = undefined;
    if (rows.byAddress.size > most) {
      letGo(clock);
      return;
    }
    orders.touch(touched);
    // Orders and rows have stamps of their own; the version stands for what else answers are made of.
    if (members || anew) {
      quotes = [...new Set([...rows.byAddress.values()].map((row) => row.quote))];
      version += 1;
    }
    // The least `until` may be of a row that has a later one by now: all rows are looked through when it is over, not
    // with every slot.
    until =
      anew || until <= now ? leastUntil(rows.byMint.values()) : Math.min(until, leastUntil(touched.activity));
    loaded = need;
    tooMany = false;
  }
}

/** Mints whose windows have to be read again and, where there are any, those whose windows will have to be soon. */
function expiredAt({ byMint }: Rows, now: number): string[] {
  const before = (moment: number) =>
    [...byMint.values()].filter(({ countableUntil }) => countableUntil <= moment);
  const expired = before(now).length === 0 ? [] : before(now + SOON_MS);
  return expired.map((row) => row.mint);
}

function concerning(changes: Changes): Changes {
  return new Map([...changes].filter(([table]) => TABLES.has(table)));
}

function leastUntil(rows: Iterable<RankedRow>): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { until } of rows) if (until < least) least = until;
  return least;
}
