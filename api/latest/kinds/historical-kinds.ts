import {
  type CoinHistoryRows,
  coinHistoryBytes,
  coinHistoryRows,
  HISTORY_KINDS,
  NO_HISTORY,
} from '../../../clickhouse/queries/history/coin.ts';
import {
  type QuoteStepSums,
  quoteStepBytes,
  quoteStepSums,
} from '../../../clickhouse/queries/history/event-sums.ts';
import {
  type BegunPolicies,
  begunPolicies,
  NO_PROTOCOL_HISTORY,
  type ProtocolHistoryRows,
  protocolHistoryBytes,
  protocolHistoryRows,
  protocolNow,
} from '../../../clickhouse/queries/history/protocol.ts';
import type { QuoteSumsNow } from '../../../clickhouse/queries/history/quote-sums.ts';
import { page, single } from './kind.ts';

const LONG = { long: true } as const;

/** Tables that the hourly states of accounts are made of. */
const HISTORY_FROM = {
  account_hours: 'any',
  unseen_changes: 'any',
  brought_changes: 'any',
  carried_accounts: 'any',
  stream_holes: 'any',
  hour_slots: 'any',
} as const;

const endsBetween = (first: number, last: number, each: number): number[] =>
  Array.from({ length: Math.floor((last - first) / each) + 1 }, (_, at) => first + at * each);

/** Kinds of past states, by the hour. */
export const HISTORICAL_KINDS = {
  /** What is kept of hours that every partition of the log has passed. */
  coinHistory: page<CoinHistoryRows>(
    { events: 'key', prices: 'any', ...HISTORY_FROM },
    NO_HISTORY,
    (store, [mint = '', policy = '', bankroll = '', pool = '', quoteMint = '', from, to]) =>
      coinHistoryRows(store, {
        ...{ mint, policy, bankroll, pool, quoteMint },
        ...{ from: Number(from), to: Number(to) },
      }),
    { ...LONG, sums: true, sizeOf: coinHistoryBytes },
  ),
  /**
   * By the ends of steps (the first, the last, their distance, in hours), how many of them are passed, and which
   * policies had begun by then: touched by `policies` instead, all of it would be read again with any write to them.
   */
  protocolHistory: page<ProtocolHistoryRows>(
    HISTORY_FROM,
    NO_PROTOCOL_HISTORY,
    (store, [, first, last, each, passed]) =>
      protocolHistoryRows(store, endsBetween(Number(first), Number(last), Number(each)), Number(passed)),
    { ...LONG, sizeOf: protocolHistoryBytes },
  ),
  protocolBegun: single<readonly BegunPolicies[]>({ policies: 'any' }, [], begunPolicies, {
    slow: true,
    ...LONG,
  }),
  /** By the ends of steps: the first, the last, their distance. */
  protocolEvents: page<QuoteStepSums>(
    { events_by_slot: 'any' },
    new Map(),
    (store, [, first, last, each]) =>
      quoteStepSums(store, HISTORY_KINDS, { first: Number(first), last: Number(last), each: Number(each) }),
    { ...LONG, sums: true, sizeOf: quoteStepBytes },
  ),
  protocolNow: single<readonly QuoteSumsNow[]>(
    { policies: 'any', venue_accounts: 'any', token_accounts: 'any' },
    [],
    protocolNow,
    { slow: true, ...LONG },
  ),
};
