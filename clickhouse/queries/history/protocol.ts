import type { Store } from '../../client.ts';
import { quoteSums } from './quote-sums.ts';
import { spans, stepParams } from './spans.ts';
import { type StreamCover, streamCover } from './stream-cover.ts';

/** Sums over what is known of the policies of a quote asset at one moment. Null times: one of them is not known. */
export interface QuoteSumsAt {
  /** The number of the step from 1 on; 0: now. */
  step: number;
  quote_mint: string;
  /** Policies whose account is known. */
  policies: string;
  hwm: string;
  fees_claimed: string;
  profit_swept: string;
  venue_count: string;
  policies_time: string | null;
  /** Whose bankroll is known. */
  bankrolls: string;
  bankroll: string;
  bankroll_time: string | null;
  /** Unrevoked venue accounts that are known; of those that are not, the count. */
  venues: string;
  lost_venues: string;
  unattested: string;
  attested: string;
  attested_time: string | null;
  locals: string;
  local_balances: string;
  local: string;
  local_time: string | null;
}

export interface ProtocolHistoryRows {
  sums: QuoteSumsAt[];
  cover: StreamCover;
}

export const NO_PROTOCOL_HISTORY: ProtocolHistoryRows = {
  sums: [],
  cover: { hours: [], holes: [] },
};

const VENUES = 'SELECT address FROM venue_accounts_by_policy';
const VENUE_COLUMNS = ['policy', 'token_account', 'kind', 'revoked'];

const AT_STEPS = quoteSums({
  policy: spans(
    'SELECT address FROM policies',
    ['hwm', 'fees_claimed', 'profit_swept', 'venue_count'],
    "h.held_in = 'policies'",
  ),
  bankroll: spans('SELECT bankroll FROM policies', ['amount']),
  venue: spans(VENUES, [...VENUE_COLUMNS, 'remote_equity', 'remote_asof']),
  localVenue: spans(
    `${VENUES} WHERE address IN (SELECT address FROM account_hours WHERE kind = 'Local')`,
    VENUE_COLUMNS,
  ),
  local: spans("SELECT token_account FROM account_hours WHERE kind = 'Local'", ['amount']),
});

/** They hold at one moment, which is step 0. */
const latest = (table: string, columns: string) =>
  `SELECT address, block_time, exists, ${columns}, 0 AS since, 1 AS until, 1 AS lost FROM ${table} FINAL`;

const NOW = quoteSums({
  policy: latest('policies', 'hwm, fees_claimed, profit_swept, venue_count'),
  bankroll: latest('token_accounts', 'amount'),
  venue: latest('venue_accounts', 'policy, token_account, kind, revoked, remote_equity, remote_asof'),
  localVenue: latest('venue_accounts', 'policy, token_account, kind, revoked'),
  local: latest('token_accounts', 'amount'),
});

/** The sums at the ends of steps, in hours since 1970, oldest first. @param passed so many of them alone have sums. */
export async function protocolHistoryRows(
  store: Store,
  ends: readonly number[],
  passed: number,
): Promise<ProtocolHistoryRows> {
  const cover = await streamCover(store, ends[0] ?? 0, ends.at(-1) ?? 0);
  const params = stepParams(ends.slice(0, passed), cover);
  return { sums: params === null ? [] : await store.query<QuoteSumsAt>(AT_STEPS, params), cover };
}

/** Of each quote asset: how many policies had begun, by step. */
export type BegunPolicies = { quote_mint: string; counts: string[] };

export const begunPolicies = (store: Store, ends: readonly number[]): Promise<BegunPolicies[]> =>
  store.query(
    `SELECT quote_mint, sumForEach(arrayMap(end -> created_at < toInt64(end) * 3600, {ends:Array(UInt32)})) AS counts
     FROM policies FINAL WHERE exists = 1 GROUP BY quote_mint ORDER BY quote_mint`,
    { ends },
  );

/** The same of the latest states. */
export const protocolNow = (store: Store): Promise<QuoteSumsAt[]> => store.query(NOW);
