import type { Store } from '../../../clickhouse/client.ts';
import type { StoredPolicy } from '../../../clickhouse/queries/states/policy.ts';
import {
  type PolicyKeys,
  policyKeysAfter,
  poolsOfMints,
} from '../../../clickhouse/queries/states/policy-keys.ts';
import type { KindName } from '../kinds/kinds.ts';
import { addKey, type Cells, type Keys } from './cells.ts';
import type { LoadedKeys } from './load.ts';

/** What readers will ask for next, read with what they ask for. */
export interface Ahead {
  /** Adds to what somebody waits for the same of policies that nobody has asked for yet. */
  add(wanted: Keys): Promise<void>;
  /** What the answers of policies that memory did not have are made of, as far as somebody asks for such answers. */
  behind(loaded: LoadedKeys, clock: number): Promise<Keys>;
  /** Memory begins anew. */
  restart(): void;
}

/** Policies whose keys are read with one question. */
const PAGE = 1_000;
/** Keys of a kind in one turn: it takes the engine hardly longer than one. */
const MOST = 1_000;
/** Between two walks over all policies: there may be new ones. */
const AGAIN_MS = 60_000;
/** For each question of a walk, where somebody waits for one that it did not meet: a store that fills has many of them. */
const AGAIN_FOR_NEW_MS = 1_000;
/** Kinds that are asked by the address of a policy, and of none that is not there. */
const OF_POLICIES: readonly KindName[] = ['venueAccounts', 'lastTransaction'];

/** What is read ahead, and by which keys of a policy. */
const KEYS: Partial<Record<KindName, (keys: PolicyKeys) => readonly string[]>> = {
  policy: ({ address }) => [address],
  lastTransaction: ({ address }) => [address],
  venueAccounts: ({ address }) => [address],
  tokenAccount: ({ tokenAccounts }) => tokenAccounts,
  venueReading: ({ remotes }) => remotes,
  mint: ({ mint }) => [mint],
  pool: ({ pools }) => pools,
  totals: ({ mint }) => [mint],
  eventsOfDay: ({ mint }) => [mint],
  claims: ({ mint }) => [mint],
  claimsOfDay: ({ mint }) => [mint],
};

const KINDS_AHEAD = Object.entries(KEYS) as [KindName, (keys: PolicyKeys) => readonly string[]][];

/**
 * Readers ask for one policy after the other, and each that is not in memory waits for a turn: whoever comes first has
 * the next thousand read too, policy by policy in the order of their addresses, until all are there or half of the room.
 */
export function createAhead(options: { store: Store; cells: Cells; monotonic(): number }): Ahead {
  const { store, cells, monotonic } = options;
  let policies: PolicyKeys[] = [];
  let isWhole = false;
  let begunAt = 0;
  const met = new Set<string>();
  /** Of each kind: how many policies are behind it. */
  let done = new Map<KindName, number>();

  const restart = () => {
    [policies, isWhole, done] = [[], false, new Map()];
    met.clear();
  };
  const readPage = async () => {
    if (policies.length === 0) begunAt = monotonic();
    const page = await policyKeysAfter(store, policies.at(-1)?.address ?? '', PAGE);
    policies.push(...page);
    for (const { address } of page) met.add(address);
    isWhole = page.length < PAGE;
  };
  const isOld = (wanted: Keys): boolean => {
    const age = monotonic() - begunAt;
    if (age > AGAIN_MS) return true;
    if (age < AGAIN_FOR_NEW_MS * Math.ceil(met.size / PAGE)) return false;
    return OF_POLICIES.some((kind) => [...(wanted.get(kind) ?? [])].some((address) => !met.has(address)));
  };
  const addOf = (kind: KindName, keysOf: (keys: PolicyKeys) => readonly string[], wanted: Keys) => {
    let at = done.get(kind) ?? 0;
    for (let more = 0; at < policies.length && more < MOST; at += 1)
      for (const key of keysOf(policies[at] as PolicyKeys))
        if (cells.peek(kind, key) === undefined) {
          addKey(wanted, kind, key);
          more += 1;
        }
    done.set(kind, at);
  };

  return {
    restart,
    behind: async (loaded, clock) => {
      const more: Keys = new Map();
      const rows = [...(loaded.get('policy')?.values.values() ?? [])].map(
        ({ value }) => value as StoredPolicy,
      );
      const fresh = rows.filter(({ address }) => cells.peek('policy', address) === undefined);
      const kinds = KINDS_AHEAD.filter(([kind]) => cells.isInUse(kind, clock) && !cells.isFilling(kind));
      if (fresh.length === 0 || kinds.length === 0) return more;
      const mints = fresh.map(({ mint }) => mint);
      const pools = await poolsOfMints(store, mints).catch(() => () => []);
      for (const row of fresh)
        for (const [kind, keysOf] of kinds)
          for (const key of keysOf(keysIn(row, pools(row.mint, row.quote_mint))))
            if (cells.peek(kind, key) === undefined && loaded.get(kind)?.keys.has(key) !== true)
              addKey(more, kind, key);
      return more;
    },
    add: async (wanted) => {
      const kinds = KINDS_AHEAD.filter(([kind]) => wanted.has(kind) && !cells.isFilling(kind));
      if (kinds.length === 0) return;
      if (isWhole && isOld(wanted)) restart();
      const isAtEnd = kinds.some(([kind]) => (done.get(kind) ?? 0) >= policies.length);
      // Whoever waits does not fail for what nobody has asked for.
      if (isAtEnd && !isWhole) await readPage().catch(() => {});
      for (const [kind, keysOf] of kinds) addOf(kind, keysOf, wanted);
    },
  };
}

function keysIn(row: StoredPolicy, pools: string[]): PolicyKeys {
  const { address, mint, bankroll, quote_escrow, base_escrow, holder_rewards } = row;
  const tokenAccounts = [bankroll, quote_escrow, base_escrow, holder_rewards];
  return { address, mint, pools, tokenAccounts, remotes: [] };
}
