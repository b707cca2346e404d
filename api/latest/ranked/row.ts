import type { RankedPolicy } from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import { OWN_SORTS, type OwnSort } from '../../../schemas/responses/rankings.ts';

/** What of a policy it is found and ranked by, and nothing else. */
export interface RankedRow extends Record<OwnSort, bigint> {
  address: string;
  mint: string;
  quote: string;
  bankroll: string;
  /** Address of its pool, once that was seen. */
  pool: string | null;
  agent: boolean;
  origin: number;
  model: number;
  locked: boolean;
  paused: boolean;
  cap: bigint | null;
  routed: bigint;
  balance: bigint | null;
  /** Events of the last 24 hours, and the unix milliseconds until which that holds. */
  events: number;
  eventsUntil: number;
  /** Lower case, to search in. */
  name: string;
  symbol: string;
  /** There is no such policy any more. */
  gone: boolean;
}

const NOTHING_OWN = Object.fromEntries(OWN_SORTS.map((sort) => [sort, 0n])) as Record<OwnSort, bigint>;

export function rankedRow(policy: RankedPolicy, quotes: Map<string, string>): RankedRow {
  const { address, mint, bankroll, quote_mint } = policy;
  // One text for all policies of a quote asset.
  const quote = quotes.get(quote_mint) ?? quote_mint;
  quotes.set(quote, quote);
  const row: RankedRow = {
    ...{ address, mint, quote, bankroll, pool: null },
    ...{ agent: false, origin: 0, model: 0, locked: false, paused: false },
    ...NOTHING_OWN,
    ...{ cap: null, routed: 0n, balance: null },
    ...{ events: 0, eventsUntil: Number.POSITIVE_INFINITY, name: '', symbol: '', gone: false },
  };
  setPolicy(row, policy);
  return row;
}

export function setPolicy(row: RankedRow, policy: RankedPolicy): void {
  row.agent = policy.mode === 'Agent';
  row.origin = policy.origin_id;
  row.model = policy.model;
  row.locked = policy.locked === 1;
  row.paused = policy.paused === 1;
  for (const sort of OWN_SORTS) row[sort] = BigInt(policy[sort]);
}
