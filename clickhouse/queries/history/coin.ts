import type { Store } from '../../client.ts';
import type { CarriedRow } from '../../hour-tables.ts';
import {
  carriedAccounts,
  closingStates,
  type FirstHour,
  firstKnown,
  type HistoryAccounts,
  type StatesByAccount,
  type UnseenChange,
  unseenChanges,
} from './closing-states.ts';
import { type HourSums, hourSums } from './event-sums.ts';
import { type PriceHour, priceHours } from './price-hours.ts';
import { type StreamCover, streamCover } from './stream-cover.ts';

/** What a policy's history in a range of hours is made of. */
export interface CoinHistoryRows {
  states: StatesByAccount;
  first: FirstHour[];
  unseen: UnseenChange[];
  carried: CarriedRow[];
  cover: StreamCover;
  prices: PriceHour[];
  sums: HourSums[];
}

export interface CoinHistoryKey extends HistoryAccounts {
  mint: string;
  quoteMint: string;
  /** Hours since 1970: those in which a step ends lie from `from` up to and with `to`. */
  from: number;
  to: number;
}

/** Kinds of events that counters of a policy sum. */
export const HISTORY_KINDS = ['FeesClaimed', 'ProfitSwept', 'BuybackBurned', 'BaseLegBurned'] as const;

export const NO_HISTORY: CoinHistoryRows = {
  ...{ states: new Map(), first: [], unseen: [], carried: [], prices: [], sums: [] },
  cover: { hours: [], holes: [] },
};

/** Bytes in memory of a closing state, of any other row, and of each slot that a row lists. */
const STATE_BYTES = 300;
const ROW_BYTES = 400;
const SLOT_BYTES = 40;

/** About how many bytes the rows take in memory. */
export function coinHistoryBytes({ states, cover, unseen, ...rows }: CoinHistoryRows): number {
  let bytes = 0;
  for (const of of states.values()) bytes += of.length * STATE_BYTES;
  for (const of of [cover.hours, cover.holes, unseen, ...Object.values(rows)]) bytes += of.length * ROW_BYTES;
  for (const { streamed, brought } of unseen) bytes += (streamed.length + brought.length) * SLOT_BYTES;
  return bytes;
}

export async function coinHistoryRows(store: Store, key: CoinHistoryKey): Promise<CoinHistoryRows> {
  const { mint, quoteMint, from, to, policy, bankroll, pool } = key;
  const accounts: HistoryAccounts = { policy, bankroll, pool };
  const [states, first, unseen, carried, cover, prices, sums] = await Promise.all([
    closingStates(store, accounts, from, to),
    firstKnown(store, accounts),
    unseenChanges(store, accounts),
    carriedAccounts(store, accounts),
    streamCover(store, from, to),
    priceHours(store, quoteMint, from, to),
    hourSums(store, mint, HISTORY_KINDS, from, to),
  ]);
  return { states, first, unseen, carried, cover, prices, sums };
}
