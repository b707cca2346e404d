import { ANY, type ChangedTable, type Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { inPieces } from '../../../clickhouse/key-pieces.ts';
import { eventsOfDay } from '../../../clickhouse/queries/ranking/day-windows.ts';
import {
  type AddressRange,
  addressRangesOf,
  type PolicySelection,
} from '../../../clickhouse/queries/ranking/policy-selection.ts';
import {
  type RankedAccount,
  type RankedPolicy,
  type RankedPool,
  type RankedSums,
  type RankedToken,
  rankedAccountOf,
  rankedAccounts,
  rankedPolicies,
  rankedPolicyOf,
  rankedPoolOf,
  rankedPools,
  rankedSums,
  rankedSumsOf,
  rankedTokenOf,
  rankedTokens,
} from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import type { PoolRow } from '../../../clickhouse/queries/states/pools.ts';
import { ask } from '../../../clickhouse/question.ts';
import { type AlreadyRead, sharedOr } from '../kinds/already-read.ts';
import type { RankedRow } from './row.ts';

/** What a reader needs of the orders. */
export interface RankedNeed {
  /** Program that owns the pools. */
  launchpad: string;
}

/** As many keys as some slots of a busy chain change; where more have changed, all rows are read. */
const MOST_KEYS = 5_000;
/** Policies per query, where all are read: the whole of its answer is in memory for a moment. */
export const PIECE = 50_000;

/** The current rows, by the keys that changes are known by. */
export interface RowIndex {
  byAddress: ReadonlyMap<string, RankedRow>;
  byMint: ReadonlyMap<string, RankedRow>;
  byBankroll: ReadonlyMap<string, RankedRow>;
  byPool: ReadonlyMap<string, RankedRow>;
}

/** What was read: the keys that were asked for, null for all, and what was found of them. */
export interface Part<Found> {
  keys: readonly string[] | null;
  found: readonly Found[];
}

export type EventsFound =
  Awaited<ReturnType<typeof eventsOfDay>> extends Map<string, infer Window>
    ? readonly [mint: string, window: Window]
    : never;

export interface RankedLoad {
  policies: Part<RankedPolicy>;
  pools: Part<RankedPool>;
  accounts: Part<RankedAccount>;
  sums: Part<RankedSums>;
  tokens: Part<RankedToken>;
  events: Part<EventsFound>;
}

const NOTHING: ReadonlySet<string> = new Set();

function keysIn(changes: Changes, ...tables: readonly ChangedTable[]): ReadonlySet<string> | null {
  const sets = tables.map((table) => changes.get(table) ?? NOTHING);
  return sets.some((set) => set.has(ANY)) ? null : new Set(sets.flatMap((set) => [...set]));
}

/** Those of the changed keys that belong to a policy here, and those of new policies; null where there are too many. */
function listOf(
  keys: ReadonlySet<string> | null,
  known: ReadonlyMap<string, unknown>,
  fresh: readonly string[],
): readonly string[] | null {
  if (keys === null) return null;
  const list = [...new Set([...[...keys].filter((key) => known.has(key)), ...fresh])];
  return list.length > MOST_KEYS ? null : list;
}

/** Reads what changed. @param expired mints whose window of 24 hours cannot be computed from memory any longer */
export async function loadRanked(
  store: Store,
  index: RowIndex,
  changes: Changes,
  options: { launchpad: string; now: number; expired: readonly string[]; read: AlreadyRead },
): Promise<RankedLoad> {
  const { launchpad, now, expired, read } = options;
  const changed = keysIn(changes, 'policies');
  const addresses = changed === null || changed.size > MOST_KEYS ? null : [...changed];
  const policies = {
    keys: addresses,
    found: addresses === null ? await allPolicies(store, index) : await policiesAt(store, addresses, read),
  };
  const fresh = policies.found.filter(({ address }) => !index.byAddress.has(address));
  const mints = fresh.map(({ mint }) => mint);
  const of = (tables: ChangedTable[]) => keysIn(changes, ...tables);
  const ranges = () =>
    addressRangesOf([...index.byAddress.keys(), ...fresh.map(({ address }) => address)], PIECE);
  const part = async <Found>(
    keys: readonly string[] | null,
    atKeys: (keys: readonly string[]) => Promise<readonly Found[]>,
    inRange: (range: AddressRange) => Promise<readonly Found[]>,
  ): Promise<Part<Found>> => {
    if (keys !== null) return { keys, found: await atKeys(keys) };
    const found: Found[] = [];
    for (const range of ranges()) for (const one of await inRange(range)) found.push(one);
    return { keys, found };
  };
  const inPools = changes.has('curve_configs') || mints.length > MOST_KEYS ? null : of(['pools']);
  const poolKeys = inPools === null || inPools.size > MOST_KEYS ? null : [...inPools];
  const poolsAt = async (keys: readonly string[]): Promise<RankedPool[]> => {
    const known = keys.filter((key) => index.byPool.has(key));
    const others = keys.filter((key) => !index.byPool.has(key));
    const [shared, ...own] = await Promise.all([
      knownPools(store, known, launchpad, index, read),
      inPieces(others, (some) => ask(store, rankedPools(launchpad, some, []))),
      inPieces(mints, (some) => ask(store, rankedPools(launchpad, [], some))),
    ]);
    return [...shared, ...(await asShared(own.flat(2), read))];
  };
  const bankrolls = fresh.map(({ bankroll }) => bankroll);
  const [pools, accounts, sums, tokens, events] = await Promise.all([
    part(poolKeys, poolsAt, (range) => ask(store, rankedPools(launchpad, [], range))),
    part(
      listOf(of(['token_accounts']), index.byBankroll, bankrolls),
      (keys) => sharedOr(read.accounts, keys, rankedAccountOf, (some) => ask(store, rankedAccounts(some))),
      (range) => ask(store, rankedAccounts(range)),
    ),
    part(
      listOf(of(['policy_totals']), index.byMint, mints),
      (keys) => sharedOr(read.totals, keys, rankedSumsOf, (some) => ask(store, rankedSums(some))),
      (range) => ask(store, rankedSums(range)),
    ),
    part(
      listOf(of(['mints', 'metadata_accounts', 'metadata_documents']), index.byMint, mints),
      (keys) => sharedOr(read.tokens, keys, rankedTokenOf, (some) => ask(store, rankedTokens(some))),
      (range) => ask(store, rankedTokens(range)),
    ),
    part<EventsFound>(
      listOf(of(['events']), index.byMint, [...mints, ...expired]),
      (keys) =>
        sharedOr<EventsFound, EventsFound>(
          read.windows,
          keys,
          (window) => window,
          (some) => windowsOf(store, some, now),
        ),
      (range) => windowsOf(store, range, now),
    ),
  ]);
  return { policies, pools, accounts, sums, tokens, events };
}

/** Pools that had to be asked for to know their pairs, in the state that the turn reads of them anyway. */
async function asShared(pools: readonly RankedPool[], read: AlreadyRead): Promise<RankedPool[]> {
  const found = (await read.pools(pools.map(({ address }) => address)).found) ?? [];
  const shared = new Map(found.map((pool) => [pool.address, pool]));
  return pools.flatMap((pool) => {
    const state = shared.get(pool.address);
    if (state === undefined) return [pool];
    return state.exists === 1 ? [rankedPoolOf(state, pool)] : [];
  });
}

/** Changed pools of policies that are here: their pair is known. */
async function knownPools(
  store: Store,
  addresses: readonly string[],
  launchpad: string,
  { byPool }: RowIndex,
  read: AlreadyRead,
): Promise<RankedPool[]> {
  const made = (pool: PoolRow): RankedPool => {
    const { mint, quote } = byPool.get(pool.address) as RankedRow;
    return rankedPoolOf(pool, { base_mint: mint, quote_mint: quote });
  };
  const found = await sharedOr(
    read.pools,
    addresses,
    (pool) => (pool.exists === 1 ? made(pool) : null),
    (some) => ask(store, rankedPools(launchpad, some, [])),
  );
  return found.filter((pool) => pool !== null);
}

async function windowsOf(store: Store, selection: PolicySelection, now: number): Promise<EventsFound[]> {
  return [...(await eventsOfDay(store, selection, Math.floor(now / 1000)))];
}

async function allPolicies(store: Store, index: RowIndex): Promise<RankedPolicy[]> {
  const all: RankedPolicy[] = [];
  for (const range of addressRangesOf(index.byAddress.keys(), PIECE))
    for (const policy of await ask(store, rankedPolicies(range))) all.push(policy);
  return all;
}

const policiesAt = (store: Store, keys: readonly string[], read: AlreadyRead): Promise<RankedPolicy[]> =>
  sharedOr(read.policies, keys, rankedPolicyOf, (some) => ask(store, rankedPolicies(some)));
