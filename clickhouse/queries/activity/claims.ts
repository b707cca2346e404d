import { RECENT_CLAIMS_MAX } from '../../../schemas/responses/coin/fees.ts';
import type { Store } from '../../client.ts';
import { type InOrder, inOrder, keyWithin, mustBeWorthReading } from '../../in-order.ts';
import { sharedLookup } from '../../shared-reads.ts';

export interface ClaimRow {
  mint: string;
  signature: string;
  slot: string;
  block_time: string | null;
  quote_amount: string;
  base_amount: string;
}

const CLAIMS = `
  SELECT mint, signature, slot, block_time, amount_a AS quote_amount, amount_b AS base_amount
  FROM events FINAL`;
const NEWEST_FIRST = 'ORDER BY slot DESC, tx_index DESC, signature DESC, position DESC';

/** The newest FeesClaimed events of these mints, at most RECENT_CLAIMS_MAX of each, by mint. */
export const recentClaims = sharedLookup<ClaimRow>('mint', claimsAmongAll);

function claimsAmongAll(store: Store, mints: readonly string[]): Promise<ClaimRow[]> {
  return store.query(
    `${CLAIMS} WHERE mint IN {mints:Array(String)} AND kind = 'FeesClaimed'
     ${NEWEST_FIRST} LIMIT {limit:UInt32} BY mint`,
    { mints, limit: RECENT_CLAIMS_MAX },
  );
}

/** The same for mints with many events: a third of the time for one with 166,000; for others it only costs time. */
export const recentClaimsOfBusy = sharedLookup<ClaimRow>('mint', async (store, mints) =>
  (await Promise.all(mints.map((mint) => claimsOfBusy(store, mint)))).flat(),
);

/** Rows to look for: some claims are there twice, or were struck out. */
const LOOKED_FOR = 2 * RECENT_CLAIMS_MAX;

/** Finds the newest slots with claims first, without merging all events of the mint. */
async function claimsOfBusy(store: Store, mint: string): Promise<ClaimRow[]> {
  const found = await store.query<{ slot: string }>(
    `SELECT slot FROM events PREWHERE mint = {mint:String} AND kind = 'FeesClaimed'
     ORDER BY slot DESC LIMIT {most:UInt32}`,
    { mint, most: LOOKED_FOR },
  );
  if (found.length === 0) return [];
  const slots = [...new Set(found.map(({ slot }) => slot))].map(BigInt);
  const newest = await store.query<ClaimRow>(
    `${CLAIMS} WHERE mint = {mint:String} AND kind = 'FeesClaimed' AND slot IN {slots:Array(UInt64)}
     ${NEWEST_FIRST} LIMIT {limit:UInt32}`,
    { mint, slots, limit: RECENT_CLAIMS_MAX },
  );
  const isCut = found.length === LOOKED_FOR && newest.length < RECENT_CLAIMS_MAX;
  return isCut ? claimsAmongAll(store, [mint]) : newest;
}

/** Each stretch goes through all of them: two seconds of the engine for 50 million. */
const MOST_EVENTS = 100_000_000;
/** 50 MB of text. */
const MOST_CLAIMS = 200_000;
/** Rows of a mint to look for: some claims are there several times, or were struck out. */
const ROWS_LOOKED_FOR = 4 * RECENT_CLAIMS_MAX;

/** How many claims of each mint there are to be found. */
const EXPECTED = (where: string): string => `
  SELECT mint, toUInt32(least(sum(claim_count), ${RECENT_CLAIMS_MAX})) AS claims
  FROM policy_totals FINAL ${where} GROUP BY mint HAVING claims > 0`;

const EVENTS = 'SELECT count() AS rows FROM events';
const CLAIMS_EXPECTED = `SELECT sum(claims) AS rows FROM (${EXPECTED('')})`;

const IN_ORDER = inOrder(
  `SELECT if(t.mint = '', c.mint, t.mint) AS key, key AS mint, c.signature AS signature, c.slot AS slot,
     c.block_time AS block_time, c.quote_amount AS quote_amount, c.base_amount AS base_amount, t.claims AS claims
   FROM (${EXPECTED(`WHERE ${keyWithin('mint')}`)}) AS t
   FULL JOIN (
     SELECT mint, signature, slot, tx_index, position, block_time, amount_a AS quote_amount, amount_b AS base_amount
     FROM events FINAL
     WHERE ${keyWithin('mint')} AND kind = 'FeesClaimed' AND (mint, slot) IN (
       SELECT mint, toUInt64(-arrayJoin(groupArraySorted(${ROWS_LOOKED_FOR})(-toInt64(slot)))) FROM events
       WHERE ${keyWithin('mint')} AND kind = 'FeesClaimed' GROUP BY mint)
     ORDER BY mint, slot DESC, tx_index DESC, signature DESC, position DESC
     LIMIT ${RECENT_CLAIMS_MAX} BY mint
   ) AS c ON c.mint = t.mint
   ORDER BY key, c.slot DESC, c.tx_index DESC, c.signature DESC, c.position DESC
   LIMIT {most:UInt32}`,
);

/**
 * The same of all mints that have any, each row with how many claims of its mint there must be: see `wholeClaims`.
 * @throws TooManyRowsError where there are more rows than the answer is worth
 */
export const recentClaimsInOrder: InOrder = async (store, stretch) => {
  // The second question goes through the sums of all mints: it is asked only where the first one passes.
  for (const [sql, most] of [
    [EVENTS, MOST_EVENTS],
    [CLAIMS_EXPECTED, MOST_CLAIMS],
  ] as const) {
    const [much] = await store.query<{ rows: string }>(sql);
    mustBeWorthReading(Number(much?.rows), most, stretch);
  }
  return IN_ORDER(store, stretch);
};

/** The claims of a mint out of rows that were read in order; null where some may be missing. */
export function wholeClaims(rows: readonly object[]): ClaimRow[] | null {
  const found = rows as readonly (ClaimRow & { claims: number })[];
  if (found.some(({ signature, claims }) => signature === '' || claims !== found.length)) return null;
  return found.map(({ claims: _, ...claim }) => claim);
}
