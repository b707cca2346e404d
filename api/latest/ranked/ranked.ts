import { addChanges, type ChangedTable, type Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import type { RankedPage } from '../../../clickhouse/queries/ranking/ranking.ts';
import type { Cells, Keys } from '../cells.ts';
import { applyLoad, noRows, type Rows } from './apply.ts';
import { type Build, startBuild } from './build.ts';
import { loadRanked, type RankedLoad, type RankedNeed } from './load.ts';
import { createOrders, type RankedSelection } from './ranking.ts';
import { addRowKeys } from './row-keys.ts';

/** The orders of all policies, in memory. */
export interface Ranked {
  /** Whether it can answer; where it lacks something it reads that in the next turn. `engine`: there are too many. */
  look(need: RankedNeed, now: number): 'ready' | 'lacking' | 'engine';
  page(selection: RankedSelection): RankedPage;
  /** Quote assets that policies have. */
  quotes(): readonly string[];
  /** Unix milliseconds from which on the first count of 24 hours is another. */
  until(): number;
  /** Reads what changed since it was last brought up; what it gives puts it in place, without waiting. */
  load(store: Store, changes: Changes | null, now: number, clock: number): Promise<() => void>;
  /** Adds to the policies that are to be read what else a row of a page is made of. */
  addRowKeys(wanted: Keys, cells: Cells, clock: number): void;
  /** Where all of it is being read: its end, for who needs it. */
  built(): Promise<void>;
  /** Why the last turn could not bring it up. */
  failure(): unknown;
  /** Somebody asks. */
  used(clock: number): void;
  /** Changes with every publication that changed something. */
  version(): number;
}

/** Of more the engine is asked: these are 0.43 GB, and their orders as much as MOST_PLACES says; 1 GB together. */
const MOST_POLICIES = 500_000;
/** Nobody asked for so long: what changes is gathered and read when somebody does. */
const WARM_MS = 10_000;

const TABLES: ReadonlySet<ChangedTable> = new Set([
  ...(['policies', 'pools', 'curve_configs', 'token_accounts', 'policy_totals'] as const),
  ...(['events', 'mints', 'metadata_accounts'] as const),
]);

export function createRanked(most = MOST_POLICIES): Ranked {
  let rows = noRows();
  let build: Build | null = null;
  const orders = createOrders();
  let loaded: RankedNeed | null = null;
  let wanted: RankedNeed | null = null;
  let pending: Changes = new Map();
  let tooMany = false;
  let quotes: readonly string[] = [];
  let until = Number.POSITIVE_INFINITY;
  let usedAt = Number.NEGATIVE_INFINITY;
  let version = 0;
  let failure: unknown;

  const serves = (need: RankedNeed) =>
    loaded !== null && loaded.launchpad === need.launchpad && (loaded.events || !need.events);

  return {
    look: (need, now) => {
      if (tooMany) return 'engine';
      if (serves(need) && pending.size === 0 && (!need.events || now < until)) return 'ready';
      wanted = { launchpad: need.launchpad, events: need.events || loaded?.events === true };
      return 'lacking';
    },
    page: (selection) => orders.page(rows.byAddress, selection),
    quotes: () => quotes,
    until: () => until,
    version: () => version,
    used: (clock) => {
      usedAt = clock;
    },
    built: async () => build?.done,
    failure: () => failure,
    addRowKeys: (wanted, cells, clock) => {
      if (loaded !== null && wanted.has('policy') && clock - usedAt <= WARM_MS)
        addRowKeys(wanted, rows.byAddress, cells);
    },
    load: async (store, changes, now, clock) => {
      const need = wanted ?? loaded;
      const later = () => {
        const some = concerning(changes ?? new Map());
        if (changes === null) loaded = null;
        else addChanges(pending, some);
        // What was made of the orders as they stand is kept no longer.
        if (changes === null || some.size > 0) version += 1;
      };
      // What was written meanwhile is not known.
      if (changes === null) build = null;
      if (need === null || (wanted === null && clock - usedAt > WARM_MS)) return later;
      const anew = changes === null || !serves({ ...need, events: false });
      if (anew && build?.need.launchpad !== need.launchpad) {
        build = startBuild(store, need, now, most);
        // What stood before is told of no change from here on.
        loaded = null;
        pending = new Map();
        failure = undefined;
      }
      const base = anew ? build : { result: { rows }, need: loaded };
      if (base === null || base.result === null) return later;
      if (base.result === 'too many' || 'error' in base.result) return () => giveUp(base.result);
      const all: Changes = new Map();
      addChanges(all, pending);
      addChanges(all, concerning(changes ?? new Map()));
      const allEvents = need.events && base.need?.events !== true;
      const expired = need.events && (anew || until <= now) ? expiredAt(base.result.rows, now) : [];
      if (!anew && !allEvents && expired.length === 0 && all.size === 0) return () => {};
      try {
        const seconds = Math.floor(now / 1000);
        const options = {
          launchpad: need.launchpad,
          until: seconds,
          withEvents: need.events,
          allEvents,
          expired,
        };
        const load = await loadRanked(store, base.result.rows, all, options);
        const of = base.result.rows;
        return () => publish(need, of, load);
      } catch (error) {
        return () => {
          failure = error;
          later();
        };
      }
    },
  };

  function giveUp(result: Build['result']): void {
    if (result === 'too many') tooMany = true;
    else if (result !== null && 'error' in result) failure = result.error;
    build = null;
  }

  function publish(need: RankedNeed, of: Rows, load: RankedLoad): void {
    const anew = of !== rows;
    build = null;
    if (anew) {
      orders.clear();
      rows = of;
    }
    const { touched, members } = applyLoad(rows, load);
    orders.touch(touched);
    if (members || anew) quotes = [...new Set([...rows.byAddress.values()].map((row) => row.quote))];
    if (need.events) until = leastUntil(rows.byMint.values());
    pending = new Map();
    loaded = need;
    wanted = null;
    tooMany = false;
    failure = undefined;
    version += 1;
  }
}

const expiredAt = ({ byMint }: Rows, now: number): string[] =>
  [...byMint.values()].filter((row) => row.eventsUntil <= now).map((row) => row.mint);

function concerning(changes: Changes): Changes {
  return new Map([...changes].filter(([table]) => TABLES.has(table)));
}

function leastUntil(rows: Iterable<{ eventsUntil: number }>): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { eventsUntil } of rows) if (eventsUntil < least) least = eventsUntil;
  return least;
}
