import type { Store } from '../../client.ts';
import { expanded, stepParams } from './expanded.ts';
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

const OLDEST = (time: string, when: string) =>
  `if(countIf(${time} IS NULL AND ${when}) > 0, NULL, minOrNullIf(${time}, ${when}))`;

/** What is summed: `policy`, `bankroll`, `venue` and `local` are states at steps, or the latest ones. */
const summed = (states: { policy: string; bankroll: string; venue: string; local: string }) => `
  WITH
    quotes AS (SELECT address, quote_mint, bankroll FROM policies FINAL WHERE exists = 1),
    of_policies AS (
      SELECT a.step AS step, q.quote_mint AS quote_mint, countIf(NOT a.lost) AS policies,
        sumIf(toUInt128(a.hwm), NOT a.lost) AS hwm, sumIf(toUInt128(a.fees_claimed), NOT a.lost) AS fees_claimed,
        sumIf(toUInt128(a.profit_swept), NOT a.lost) AS profit_swept,
        sumIf(toUInt64(a.venue_count), NOT a.lost) AS venue_count, ${OLDEST('a.block_time', 'NOT a.lost')} AS policies_time
      FROM (${states.policy}) AS a JOIN quotes AS q ON q.address = a.address
      WHERE a.exists = 1 GROUP BY a.step, q.quote_mint),
    of_bankrolls AS (
      SELECT b.step AS step, q.quote_mint AS quote_mint, countIf(NOT b.lost) AS bankrolls,
        sumIf(toUInt128(b.amount), NOT b.lost) AS bankroll, ${OLDEST('b.block_time', 'NOT b.lost')} AS bankroll_time
      FROM (${states.bankroll}) AS b JOIN quotes AS q ON q.bankroll = b.address
      WHERE b.exists = 1 GROUP BY b.step, q.quote_mint),
    of_venues AS (
      SELECT v.step AS step, q.quote_mint AS quote_mint,
        countIf(NOT v.lost AND v.exists = 1 AND v.revoked = 0) AS venues, countIf(v.lost) AS lost_venues,
        countIf(v.kind = 'Remote' AND v.remote_asof = 0 AND v.exists = 1 AND v.revoked = 0) AS unattested,
        sumIf(toUInt128(v.remote_equity), v.kind = 'Remote' AND v.exists = 1 AND v.revoked = 0) AS attested,
        minOrNullIf(v.remote_asof, v.kind = 'Remote' AND v.exists = 1 AND v.revoked = 0) AS attested_time,
        countIf(v.kind = 'Local' AND v.exists = 1 AND v.revoked = 0) AS locals,
        countIf(v.kind = 'Local' AND v.exists = 1 AND v.revoked = 0 AND l.exists = 1 AND NOT l.lost) AS local_balances,
        sumIf(toUInt128(l.amount), v.kind = 'Local' AND v.exists = 1 AND v.revoked = 0 AND l.exists = 1) AS local,
        ${OLDEST('l.block_time', "v.kind = 'Local' AND v.exists = 1 AND v.revoked = 0 AND l.exists = 1")} AS local_time
      FROM (${states.venue}) AS v JOIN quotes AS q ON q.address = v.policy
      LEFT JOIN (${states.local}) AS l ON l.address = v.token_account AND l.step = v.step
      GROUP BY v.step, q.quote_mint)
  SELECT toUInt32(p.step) AS step, p.quote_mint AS quote_mint,
    toString(p.policies) AS policies, toString(p.hwm) AS hwm, toString(p.fees_claimed) AS fees_claimed,
    toString(p.profit_swept) AS profit_swept, toString(p.venue_count) AS venue_count, p.policies_time AS policies_time,
    toString(b.bankrolls) AS bankrolls, toString(b.bankroll) AS bankroll, b.bankroll_time AS bankroll_time,
    toString(v.venues) AS venues, toString(v.lost_venues) AS lost_venues, toString(v.unattested) AS unattested,
    toString(v.attested) AS attested, v.attested_time AS attested_time, toString(v.locals) AS locals,
    toString(v.local_balances) AS local_balances, toString(v.local) AS local, v.local_time AS local_time
  FROM of_policies AS p
  LEFT JOIN of_bankrolls AS b ON b.step = p.step AND b.quote_mint = p.quote_mint
  LEFT JOIN of_venues AS v ON v.step = p.step AND v.quote_mint = p.quote_mint
  ORDER BY step, quote_mint`;

const AT_STEPS = summed({
  policy: expanded(
    'SELECT address FROM policies',
    ['hwm', 'fees_claimed', 'profit_swept', 'venue_count'],
    "h.held_in = 'policies'",
  ),
  bankroll: expanded('SELECT bankroll FROM policies', ['amount']),
  venue: expanded('SELECT address FROM venue_accounts_by_policy', [
    ...['policy', 'token_account', 'kind', 'revoked', 'remote_equity', 'remote_asof'],
  ]),
  local: expanded("SELECT token_account FROM account_hours WHERE kind = 'Local'", ['amount']),
});

const latest = (table: string, columns: string) =>
  `SELECT address, block_time, exists, ${columns}, 0 AS step, 0 AS lost FROM ${table} FINAL`;

const NOW = summed({
  policy: latest('policies', 'hwm, fees_claimed, profit_swept, venue_count'),
  bankroll: latest('token_accounts', 'amount'),
  venue: latest('venue_accounts', 'policy, token_account, kind, revoked, remote_equity, remote_asof'),
  local: latest('token_accounts', 'amount'),
});

/** The sums at the ends of steps, in hours since 1970, oldest first. @param passed so many of them alone have sums. */
export async function protocolHistoryRows(
  store: Store,
  ends: readonly number[],
  passed: number,
): Promise<ProtocolHistoryRows> {
  const reached = ends.slice(0, passed);
  const cover = await streamCover(store, ends[0] ?? 0, ends.at(-1) ?? 0);
  const sums =
    reached.length === 0 ? [] : await store.query<QuoteSumsAt>(AT_STEPS, stepParams(reached, cover));
  return { sums, cover };
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
