import {
  OWN_KEYS,
  OWN_SORTS,
  type OwnSort,
  SUM_KEYS,
  SUM_SORTS,
  type SumSort,
} from '../../../schemas/responses/rankings.ts';
import { marketCap } from '../../../schemas/solana/launchpad.ts';
import type { Question } from '../../question.ts';
import { addedUp } from '../../sum-columns.ts';
import type { PolicyTotalsRow } from '../analytics/policy-totals.ts';
import type { MintRow } from '../states/mints.ts';
import type { StoredPolicy } from '../states/policy.ts';
import { curveStateOf, POOL_COLUMNS, type PoolRow } from '../states/pools.ts';
import type { TokenAccountRow } from '../states/token-accounts.ts';
import {
  amongBankrolls,
  amongMints,
  amongPolicies,
  byMint,
  type PolicySelection,
} from './policy-selection.ts';
import { MARKET_CAP } from './ranking-keys.ts';

const SHOWN = [
  ...(['address', 'block_time', 'mint', 'quote_mint', 'bankroll', 'mode', 'origin', 'origin_id'] as const),
  ...(['model_id', 'risk', 'locked', 'paused', 'tokens_burned', 'created_at'] as const),
] as const;
const OWN = OWN_SORTS.map((sort) => OWN_KEYS[sort].column);

/** The columns of a policy's account that it is found and ranked by, or that a row of a ranking shows. */
export type RankedPolicy = Pick<StoredPolicy, (typeof SHOWN)[number] | (typeof OWN_KEYS)[OwnSort]['column']>;

const COLUMNS = [...new Set([...SHOWN, ...OWN])];
const POLICIES = `SELECT ${COLUMNS.join(', ')} FROM policies FINAL`;

/** The same out of a row with more columns. */
export const rankedPolicyOf = (policy: StoredPolicy): RankedPolicy =>
  Object.fromEntries(COLUMNS.map((name) => [name, policy[name]])) as RankedPolicy;

/** The policies at the selected addresses that exist. */
export function rankedPolicies(selection: PolicySelection): Question<RankedPolicy> {
  const { sql, params } = amongPolicies(selection);
  return { sql: `${POLICIES} WHERE exists = 1 AND ${sql} ${byMint('mint', selection)}`, params };
}

/** Every `each`-th address of a policy: the ends of ranges of so many policies. */
export const policyRangeEnds = (each: number): Question<{ address: string }> => ({
  sql: `SELECT address FROM (SELECT address FROM policies ORDER BY address)
    WHERE (rowNumberInAllBlocks() + 1) % {each:UInt32} = 0`,
  params: { each },
});

/** A pool of the launchpad that exists, and its cap; null where it has none. */
export type RankedPool = PoolRow & { base_mint: string; quote_mint: string; cap: string | null };

/** The pools of a program, by their addresses or by base mint. */
export function rankedPools(
  launchpad: string,
  addresses: readonly string[],
  mints: PolicySelection,
): Question<RankedPool> {
  const { sql, params } = amongMints('base_mint', mints);
  return {
    sql: `SELECT ${POOL_COLUMNS.map((name) => `l.${name} AS ${name}`).join(', ')},
       l.base_mint AS base_mint, l.quote_mint AS quote_mint, if(c.found, c.curve_type, NULL) AS curve_type,
       if(c.found AND l.status = 0, toString(${MARKET_CAP}), NULL) AS cap
     FROM (SELECT * FROM pools FINAL WHERE exists = 1 AND program = {launchpad:String}
       AND (address IN {addresses:Array(String)} OR ${sql})) AS l
     LEFT JOIN (SELECT address, curve_type, toUInt8(1) AS found FROM curve_configs FINAL WHERE exists = 1) AS c
       ON c.address = l.global_config ${byMint('l.base_mint', mints)}`,
    params: { launchpad, addresses: [...addresses], ...params },
  };
}

/** The same out of a row without its pair and its cap. @param pair the mints of a pool that exists */
export function rankedPoolOf(row: PoolRow, pair: Pick<RankedPool, 'base_mint' | 'quote_mint'>): RankedPool {
  const shown = Object.fromEntries(POOL_COLUMNS.map((name) => [name, row[name]])) as PoolRow;
  const { base_mint, quote_mint } = pair;
  return { ...shown, base_mint, quote_mint, curve_type: row.curve_type, cap: capOf(row) };
}

function capOf(row: PoolRow): string | null {
  if (row.status !== 0 || row.curve_type === null) return null;
  return marketCap(curveStateOf(row), row.curve_type)?.quote.toString() ?? null;
}

/** What a row of a ranking shows of a bankroll; not its mint, which only the program chooses. */
export type RankedAccount = Omit<TokenAccountRow, 'mint'>;

/** The same out of a row with more columns. */
export const rankedAccountOf = ({ address, exists, amount, block_time }: TokenAccountRow): RankedAccount => ({
  ...{ address, exists, amount, block_time },
});

/** What was read of these token accounts; exists 0: there is none. */
export function rankedAccounts(addresses: PolicySelection): Question<RankedAccount> {
  const { sql, params } = amongBankrolls('address', addresses);
  return {
    sql: `SELECT address, exists, amount, block_time FROM token_accounts FINAL WHERE ${sql}`,
    params,
  };
}

/** The sums over its events that a policy is ranked by, each with the time of the newest of them. */
export type RankedSums = Pick<PolicyTotalsRow, 'mint' | (typeof SUM_KEYS)[SumSort]['column' | 'newest']>;

const SUMS = SUM_SORTS.flatMap((sort) => {
  const { column, newest } = SUM_KEYS[sort];
  return [
    [column, 'sum'],
    [newest, 'time'],
  ] as const;
});
const SUMMED = addedUp(Object.fromEntries(SUMS));

/** The same out of a row with more sums. */
export const rankedSumsOf = (totals: PolicyTotalsRow): RankedSums =>
  Object.fromEntries(
    ['mint', ...SUMS.map(([name]) => name)].map((name) => [name, totals[name as keyof RankedSums]]),
  ) as RankedSums;

export function rankedSums(mints: PolicySelection): Question<RankedSums> {
  const { sql, params } = amongMints('t.mint', mints);
  return {
    sql: `SELECT t.mint AS mint, ${SUMMED}
     FROM policy_totals AS t FINAL
     WHERE ${sql}
     GROUP BY t.mint ${byMint('t.mint', mints)}`,
    params,
  };
}

export type RankedToken = Pick<MintRow, 'address' | 'exists' | 'name' | 'symbol' | 'image_url'>;

/** The same out of a row with more columns. */
export const rankedTokenOf = ({ address, exists, name, symbol, image_url }: MintRow): RankedToken => ({
  ...{ address, exists, name, symbol, image_url },
});

/** Names, symbols and images of mints as answers show them: of the metadata account that a mint points at, if any. */
export function rankedTokens(mints: PolicySelection): Question<RankedToken> {
  const of = (column: string) => amongMints(column, mints);
  return {
    sql: `SELECT m.address AS address, m.exists AS exists,
       if(x.found, x.name, m.name) AS name, if(x.found, x.symbol, m.symbol) AS symbol,
       if(d.found AND ifNull(d.uri = if(x.found, x.uri, m.uri), 0), d.image_url, NULL) AS image_url
     FROM (SELECT * FROM mints FINAL WHERE ${of('address').sql}) AS m
     LEFT JOIN (
       SELECT address, mint, name, symbol, uri, toUInt8(1) AS found
       FROM metadata_accounts FINAL WHERE exists = 1 AND ${of('mint').sql}
     ) AS x ON x.address = ifNull(m.metadata_pointer, '') AND x.mint = m.address
     LEFT JOIN (
       SELECT mint, uri, image_url, toUInt8(1) AS found FROM metadata_documents FINAL WHERE ${of('mint').sql}
     ) AS d ON d.mint = m.address ${byMint('m.address', mints)}`,
    params: of('address').params,
  };
}
