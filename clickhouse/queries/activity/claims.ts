import { RECENT_CLAIMS_MAX } from '../../../schemas/responses/coin/fees.ts';
import type { Store } from '../../client.ts';
import { inOrderUpTo, WITHIN } from '../../in-order.ts';
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

/** Of a mint with more they are looked for among the newest: of 166,000 that is a third of the time. */
export const MANY_CLAIMS = 20_000;

/** The same of mints that have more than `MANY_CLAIMS`: it costs time alone where one has fewer. */
export const recentOfManyClaims = sharedLookup<ClaimRow>('mint', async (store, mints) =>
  (await Promise.all(mints.map((mint) => claimsAmongNewest(store, mint)))).flat(),
);

async function claimsAmongNewest(store: Store, mint: string): Promise<ClaimRow[]> {
  const asked = { mint, limit: RECENT_CLAIMS_MAX, rows: 2 * RECENT_CLAIMS_MAX };
  const newest = await store.query<ClaimRow>(
    `${CLAIMS} WHERE mint = {mint:String} AND kind = 'FeesClaimed' AND slot >= (
       SELECT slot FROM events WHERE mint = {mint:String} AND kind = 'FeesClaimed'
       ORDER BY slot DESC LIMIT 1 OFFSET {rows:UInt64})
     ${NEWEST_FIRST} LIMIT {limit:UInt32}`,
    asked,
  );
  // Else they were doubled and struck out, or are not as many.
  return newest.length === RECENT_CLAIMS_MAX ? newest : claimsAmongAll(store, [mint]);
}

/** 0.2 s of the engine for a million of them. */
const MOST_EVENTS = 2_000_000;

export const recentClaimsInOrder = inOrderUpTo(
  MOST_EVENTS,
  'events',
  `SELECT mint AS key, mint, signature, slot, block_time, amount_a AS quote_amount, amount_b AS base_amount
   FROM events FINAL
   WHERE ${WITHIN('mint')} AND kind = 'FeesClaimed'
   ORDER BY mint, slot DESC, tx_index DESC, signature DESC, position DESC
   LIMIT ${RECENT_CLAIMS_MAX} BY mint
   LIMIT {most:UInt32}`,
);
