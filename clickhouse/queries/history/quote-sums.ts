/** Sums over what is known of the policies of a quote asset at one moment. A null time: one of them is not known. */
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
  /** Policies whose bankroll is known. */
  bankrolls: string;
  bankroll: string;
  bankroll_time: string | null;
  /** How many unrevoked venue accounts are known; and how many venue accounts are not known. */
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

/** The sums over the latest states. */
export interface QuoteSumsNow extends QuoteSumsAt {
  /** A Local account whose mint is neither the one it is registered with nor the quote; empty where there is none. */
  other_asset: [account: string, mint: string, asset: string] | [];
}

/** Subqueries for states of accounts, each state with the steps that it holds at: see `spans`. */
export interface SummedStates {
  /** The step from which on a policy counts. */
  begun: string;
  policy: string;
  bankroll: string;
  venue: string;
  /** The venue accounts that were Local at any time. */
  localVenue: string;
  /** The token accounts of those. */
  local: string;
  /** Whether `local` has the accounts' mints, and `localVenue` the registered ones: closing states have neither. */
  saysMints: boolean;
}

const ofMints = ({ saysMints }: SummedStates, column: string) => (saysMints ? `, ${column}` : '');

const SPAN = 'greatest(a.since, q.begun) AS since, a.lost AS lost, a.until AS until';
const BY_SPAN = 'GROUP BY q.quote_mint, greatest(a.since, q.begun), a.lost, a.until';

const quotes = ({ begun }: SummedStates) =>
  `SELECT address, quote_mint, bankroll, ${begun} AS begun FROM policies FINAL WHERE exists = 1`;

/** Accounts that hold at the same steps are summed first, before their rows are multiplied by steps. */
const bySteps = (columns: string, groups: string) => `
  SELECT step, quote_mint, ${columns} FROM (${groups}) ARRAY JOIN range(toUInt32(since), toUInt32(until)) AS step
  GROUP BY step, quote_mint`;

const KNOWN = 'step < lost';
const oldestOf = (when: string) => `if(sumIf(undated, ${when}) > 0, NULL, minIf(oldest, ${when}))`;
const TIMES = (time: string) => `countIf(${time} IS NULL) AS undated, min(${time}) AS oldest`;

const ofPolicies = (states: SummedStates) =>
  bySteps(
    `sumIf(accounts, ${KNOWN}) AS policies, sumIf(marks, ${KNOWN}) AS hwm, sumIf(claimed, ${KNOWN}) AS fees_claimed,
      sumIf(swept, ${KNOWN}) AS profit_swept, sumIf(counted, ${KNOWN}) AS venue_count, ${oldestOf(KNOWN)} AS policies_time`,
    `SELECT q.quote_mint AS quote_mint, ${SPAN}, count() AS accounts, sum(toUInt128(a.hwm)) AS marks,
        sum(toUInt128(a.fees_claimed)) AS claimed, sum(toUInt128(a.profit_swept)) AS swept,
        sum(toUInt64(a.venue_count)) AS counted, ${TIMES('a.block_time')}
      FROM (${states.policy}) AS a JOIN (${quotes(states)}) AS q ON q.address = a.address
      WHERE a.exists = 1 ${BY_SPAN}`,
  );

const ofBankrolls = (states: SummedStates) =>
  bySteps(
    `sumIf(accounts, ${KNOWN}) AS bankrolls, sumIf(amounts, ${KNOWN}) AS bankroll, ${oldestOf(KNOWN)} AS bankroll_time`,
    `SELECT q.quote_mint AS quote_mint, ${SPAN}, count() AS accounts, sum(toUInt128(a.amount)) AS amounts,
        ${TIMES('a.block_time')}
      FROM (${states.bankroll}) AS a JOIN (${quotes(states)}) AS q ON q.bankroll = a.address
      WHERE a.exists = 1 ${BY_SPAN}`,
  );

const OPEN = 'a.exists = 1 AND a.revoked = 0';
const REMOTE = `a.kind = 'Remote' AND ${OPEN}`;

const ofVenues = (states: SummedStates) =>
  bySteps(
    `sumIf(opened, ${KNOWN}) AS venues, sumIf(accounts, NOT ${KNOWN}) AS lost_venues, sum(silent) AS unattested,
      sum(equity) AS attested, min(asof) AS attested_time, sum(local_ones) AS locals`,
    `SELECT q.quote_mint AS quote_mint, ${SPAN}, count() AS accounts, countIf(${OPEN}) AS opened,
        countIf(${REMOTE} AND a.remote_asof = 0) AS silent, sumIf(toUInt128(a.remote_equity), ${REMOTE}) AS equity,
        minOrNullIf(a.remote_asof, ${REMOTE}) AS asof, countIf(a.kind = 'Local' AND ${OPEN}) AS local_ones
      FROM (${states.venue}) AS a JOIN (${quotes(states)}) AS q ON q.address = a.policy
      ${BY_SPAN}`,
  );

/**
 * The runs of steps in which a policy had a Local venue account: states that follow on one another are joined into one
 * run, so that each balance meets its account once however often that was written.
 */
const held = (states: SummedStates) => `
  SELECT policy, token_account, places.1 AS since, places.2 AS until ${ofMints(states, 'asset_mint')} FROM (
    SELECT a.policy AS policy, a.token_account AS token_account, groupArray(a.since) AS begins, groupArray(a.until) AS ends
      ${ofMints(states, 'any(a.asset_mint) AS asset_mint')}
    FROM (${states.localVenue}) AS a WHERE a.kind = 'Local' AND ${OPEN}
    GROUP BY a.address, a.policy, a.token_account)
  ARRAY JOIN arrayZip(
    arraySort(arrayFilter(step -> NOT has(ends, step), begins)),
    arraySort(arrayFilter(step -> NOT has(begins, step), ends))) AS places`;

/** An unknown mint is no other; a balance of the quote counts for the program whatever mint it is registered with. */
const OTHER = "maxIf([l.address, l.mint, v.asset_mint], l.mint NOT IN ('', v.asset_mint, q.quote_mint))";

const ofLocals = (states: SummedStates) =>
  bySteps(
    `sumIf(accounts, ${KNOWN}) AS local_balances, sum(amounts) AS local, ${oldestOf('true')} AS local_time
      ${ofMints(states, 'max(other) AS other_asset')}`,
    `SELECT q.quote_mint AS quote_mint, greatest(v.since, l.since, q.begun) AS since, l.lost AS lost,
        least(v.until, l.until) AS until, count() AS accounts, sum(toUInt128(l.amount)) AS amounts, ${TIMES('l.block_time')}
        ${ofMints(states, `${OTHER} AS other`)}
      FROM (${states.local}) AS l JOIN (${held(states)}) AS v ON v.token_account = l.address
      JOIN (${quotes(states)}) AS q ON q.address = v.policy
      WHERE l.exists = 1 AND greatest(v.since, l.since, q.begun) < least(v.until, l.until)
      GROUP BY quote_mint, greatest(v.since, l.since, q.begun), l.lost, least(v.until, l.until)`,
  );

/** The sums over the policies of each quote asset at each step. */
export const quoteSums = (states: SummedStates): string => `
  SELECT toUInt32(p.step) AS step, p.quote_mint AS quote_mint,
    toString(p.policies) AS policies, toString(p.hwm) AS hwm, toString(p.fees_claimed) AS fees_claimed,
    toString(p.profit_swept) AS profit_swept, toString(p.venue_count) AS venue_count, p.policies_time AS policies_time,
    toString(b.bankrolls) AS bankrolls, toString(b.bankroll) AS bankroll, b.bankroll_time AS bankroll_time,
    toString(v.venues) AS venues, toString(v.lost_venues) AS lost_venues, toString(v.unattested) AS unattested,
    toString(v.attested) AS attested, v.attested_time AS attested_time, toString(v.locals) AS locals,
    toString(l.local_balances) AS local_balances, toString(l.local) AS local, l.local_time AS local_time
    ${ofMints(states, 'l.other_asset AS other_asset')}
  FROM (${ofPolicies(states)}) AS p
  LEFT JOIN (${ofBankrolls(states)}) AS b ON b.step = p.step AND b.quote_mint = p.quote_mint
  LEFT JOIN (${ofVenues(states)}) AS v ON v.step = p.step AND v.quote_mint = p.quote_mint
  LEFT JOIN (${ofLocals(states)}) AS l ON l.step = p.step AND l.quote_mint = p.quote_mint
  ORDER BY step, quote_mint`;
