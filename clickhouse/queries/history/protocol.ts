import { eachYielding } from '../../../runtime/yielding.ts';
import type { Store } from '../../client.ts';
import { askInLines } from '../../question.ts';
import { type FoldedSums, foldSums } from './folded-sums.ts';
import { type QuoteSumsAt, type QuoteSumsNow, quoteSums } from './quote-sums.ts';
import {
  FIRST_STEP_OF_POLICY,
  type Lacking,
  lackingIn,
  type StepParams,
  spans,
  stepParams,
} from './spans.ts';
import { storedSums } from './stored-sums.ts';
import { type StreamCover, streamCover } from './stream-cover.ts';

export interface ProtocolHistoryRows {
  /** The sums of each step that the stream has told of, oldest first. */
  steps: FoldedSums[];
  cover: StreamCover;
}

export const NO_PROTOCOL_HISTORY: ProtocolHistoryRows = {
  steps: [],
  cover: { hours: [], holes: [] },
};

/** Bytes in memory of a step beside its folded sums, of an hour, and of a hole. */
const EACH_BYTES = 150;

/** About how many bytes the rows take in memory. */
export const protocolHistoryBytes = ({ steps, cover: { hours, holes } }: ProtocolHistoryRows): number =>
  steps.reduce((sum, { length }) => sum + length, (steps.length + hours.length + holes.length) * EACH_BYTES);

/**
 * Venue accounts out of their hours alone: `made_of`, which says whether stored sums hold, has nothing else of them.
 */
const VENUES = "SELECT address FROM account_hours WHERE kind != ''";
const LOCAL_VENUES = "SELECT address FROM account_hours WHERE kind = 'Local'";
const VENUE_COLUMNS = ['policy', 'token_account', 'kind', 'revoked'];

const atSteps = (lacking: Lacking): string =>
  quoteSums({
    begun: FIRST_STEP_OF_POLICY,
    policy: spans(
      'SELECT address FROM policies',
      ['hwm', 'fees_claimed', 'profit_swept', 'venue_count'],
      lacking,
      "h.held_in = 'policies'",
    ),
    bankroll: spans('SELECT bankroll FROM policies', ['amount'], lacking),
    venue: spans(VENUES, [...VENUE_COLUMNS, 'remote_equity', 'remote_asof'], lacking),
    localVenue: spans(LOCAL_VENUES, VENUE_COLUMNS, lacking),
    local: spans("SELECT token_account FROM account_hours WHERE kind = 'Local'", ['amount'], lacking),
    saysMints: false,
  });

/** Latest states hold at one moment, which is step 0. */
const latest = (table: string, columns: string) =>
  `SELECT address, block_time, exists, ${columns}, 0 AS since, 1 AS until, 1 AS lost FROM ${table} FINAL`;

const NOW = quoteSums({
  begun: '0',
  policy: latest('policies', 'hwm, fees_claimed, profit_swept, venue_count'),
  bankroll: latest('token_accounts', 'amount'),
  venue: latest('venue_accounts', 'policy, token_account, kind, revoked, remote_equity, remote_asof'),
  localVenue: latest('venue_accounts', 'policy, token_account, kind, revoked, asset_mint'),
  local: latest('token_accounts', 'amount, mint'),
  saysMints: true,
});

/** The sums at these steps, made of the states of each account. */
export async function madeSums(store: Store, params: StepParams): Promise<QuoteSumsAt[]> {
  const rows = await askInLines<QuoteSumsAt>(store, { sql: atSteps(await lackingIn(store)), params });
  const sums: QuoteSumsAt[] = [];
  await eachYielding(rows, (row) => void sums.push(row));
  return sums;
}

/** Rows that are folded between two turns of the event loop: some 3 µs each. */
const ROWS_AT_ONCE = 500;

async function hasStatesBefore(store: Store, hour: number): Promise<boolean> {
  const rows = await store.query('SELECT 1 FROM account_hours WHERE hour < {hour:UInt32} LIMIT 1', { hour });
  return rows.length > 0;
}

/** The sums at the ends of steps, in hours since 1970, oldest first. @param passed only so many of them have sums. */
export async function protocolHistoryRows(
  store: Store,
  ends: readonly number[],
  passed: number,
): Promise<ProtocolHistoryRows> {
  const cover = await streamCover(store, ends[0] ?? 0, ends.at(-1) ?? 0);
  const params = stepParams(ends.slice(0, passed), cover);
  if (params === null) return { steps: [], cover };
  const kept = await storedSums(store, params, foldSums);
  const first = kept.indexOf(null);
  // Steps between two missing ones are made with them.
  const lacking = first < 0 ? null : stepParams(ends.slice(first, kept.lastIndexOf(null) + 1), cover);
  const isMade = lacking !== null && (await hasStatesBefore(store, lacking.last_end));
  const made = Map.groupBy(isMade ? await madeSums(store, lacking) : [], ({ step }) => step + first);
  const steps: FoldedSums[] = [];
  await eachYielding(
    kept.entries(),
    ([at, those]) => void steps.push(those ?? foldSums(JSON.stringify(made.get(at + 1) ?? []))),
    ROWS_AT_ONCE,
    ([at]) => 1 + (made.get(at + 1)?.length ?? 0),
  );
  return { steps, cover };
}

/**
 * For each quote asset and each hour in which a policy began, oldest first: how many had begun by its end, and a hash
 * of which ones.
 */
export interface BegunPolicies {
  quote_mint: string;
  begun: readonly { hour: number; total: number; which: string }[];
}

/** A policy that says it was created later counts as begun in this hour. */
const LAST_HOUR = 4_294_967_295;

export async function begunPolicies(store: Store): Promise<BegunPolicies[]> {
  const rows = await store.query<{
    quote_mint: string;
    hours: number[];
    counts: number[];
    hashes: string[];
  }>(
    `SELECT quote_mint, arraySort(groupArray((hour, n, hash))) AS begun, arrayMap(one -> one.1, begun) AS hours,
       arrayMap(one -> one.2, begun) AS counts, arrayMap(one -> toString(one.3), begun) AS hashes
     FROM (SELECT quote_mint, toUInt32(least(greatest(intDiv(created_at, 3600), 0), ${LAST_HOUR})) AS hour, toUInt32(count()) AS n,
             sumWithOverflow(sipHash64(address)) AS hash
           FROM policies FINAL WHERE exists = 1 GROUP BY quote_mint, hour)
     GROUP BY quote_mint ORDER BY quote_mint`,
  );
  return rows.map(({ quote_mint, hours, counts, hashes }) => {
    let [total, which] = [0, 0n];
    const begun = hours.map((hour, at) => {
      total += counts[at] ?? 0;
      which = BigInt.asUintN(64, which + BigInt(hashes[at] ?? 0));
      return { hour, total, which: which.toString(36) };
    });
    return { quote_mint, begun };
  });
}

/** The sums of the latest states. */
export const protocolNow = (store: Store): Promise<QuoteSumsNow[]> => store.query(NOW);
