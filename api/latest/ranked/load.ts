import { ANY, type ChangedTable, type Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { eventsOfDay } from '../../../clickhouse/queries/ranking/day-windows.ts';
import {
  type KeyList,
  type RankedPolicy,
  rankedBalances,
  rankedCaps,
  rankedFees,
  rankedNames,
  rankedPolicyKeys,
} from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import type { RankedRow } from './row.ts';

/** What a reader needs of the orders. */
export interface RankedNeed {
  /** Program that owns the pools. */
  launchpad: string;
  /** Whether events of the last 24 hours are ranked by. */
  events: boolean;
}

/** They travel as a bound parameter in the address of the request; of more all are read. */
const MOST_KEYS = 1_000;

/** The rows as they are, by each thing that changes are told by. */
export interface RowIndex {
  byAddress: ReadonlyMap<string, RankedRow>;
  byMint: ReadonlyMap<string, RankedRow>;
  byBankroll: ReadonlyMap<string, RankedRow>;
}

/** What was read: the keys that were asked for, null for all, and what was found of them. */
export interface Part<Found> {
  keys: KeyList;
  found: Found;
}

export interface RankedLoad {
  policies: Part<RankedPolicy[]>;
  caps: Part<Awaited<ReturnType<typeof rankedCaps>>>;
  balances: Part<Awaited<ReturnType<typeof rankedBalances>>>;
  fees: Part<Awaited<ReturnType<typeof rankedFees>>>;
  names: Part<Awaited<ReturnType<typeof rankedNames>>>;
  /** Null where nobody ranks by them. */
  events: Part<Awaited<ReturnType<typeof eventsOfDay>>> | null;
}

const NOTHING: ReadonlySet<string> = new Set();

function keysIn(changes: Changes, ...tables: readonly ChangedTable[]): ReadonlySet<string> | null {
  const sets = tables.map((table) => changes.get(table) ?? NOTHING);
  return sets.some((set) => set.has(ANY)) ? null : new Set(sets.flatMap((set) => [...set]));
}

/** Those of the keys that a policy has, and those of new policies. */
function listOf(
  keys: ReadonlySet<string> | null,
  known: ReadonlyMap<string, unknown>,
  fresh: readonly string[],
): KeyList {
  if (keys === null) return null;
  const list = [...new Set([...[...keys].filter((key) => known.has(key)), ...fresh])];
  return list.length > MOST_KEYS ? null : list;
}

const part = async <Found>(
  keys: KeyList,
  none: Found,
  read: (keys: KeyList) => Promise<Found>,
): Promise<Part<Found>> => ({ keys, found: keys?.length === 0 ? none : await read(keys) });

/** Reads what changed. @param expired mints whose window of 24 hours is another by now */
export async function loadRanked(
  store: Store,
  index: RowIndex,
  changes: Changes,
  options: { launchpad: string; until: number; withEvents: boolean; allEvents: boolean; expired: string[] },
): Promise<RankedLoad> {
  const { launchpad, until, withEvents, allEvents, expired } = options;
  const changed = keysIn(changes, 'policies');
  const addresses = changed === null || changed.size > MOST_KEYS ? null : [...changed];
  const policies = await part(addresses, [], (keys) => rankedPolicyKeys(store, keys));
  const fresh = policies.found.filter(({ address }) => !index.byAddress.has(address));
  const mints = fresh.map(({ mint }) => mint);
  const of = (tables: ChangedTable[]) => keysIn(changes, ...tables);
  const curves = changes.has('curve_configs');
  const pools = curves || mints.length > MOST_KEYS ? null : of(['pools']);
  const eventMints = allEvents ? null : of(['events']);
  const [caps, balances, fees, names, events] = await Promise.all([
    readCaps(store, launchpad, pools, mints),
    part(
      listOf(
        of(['token_accounts']),
        index.byBankroll,
        fresh.map(({ bankroll }) => bankroll),
      ),
      [],
      (keys) => rankedBalances(store, keys),
    ),
    part(listOf(of(['policy_totals']), index.byMint, mints), [], (keys) => rankedFees(store, keys)),
    part(listOf(of(['mints', 'metadata_accounts']), index.byMint, mints), [], (keys) =>
      rankedNames(store, keys),
    ),
    withEvents
      ? part(listOf(eventMints, index.byMint, [...mints, ...expired]), new Map(), (keys) =>
          eventsOfDay(store, keys, until),
        )
      : null,
  ]);
  return { policies, caps, balances, fees, names, events };
}

async function readCaps(
  store: Store,
  launchpad: string,
  pools: ReadonlySet<string> | null,
  mints: readonly string[],
): Promise<RankedLoad['caps']> {
  const keys = pools === null || pools.size > MOST_KEYS ? null : [...pools];
  if (keys?.length === 0 && mints.length === 0) return { keys, found: [] };
  return { keys, found: await rankedCaps(store, launchpad, keys, keys === null ? [] : mints) };
}
