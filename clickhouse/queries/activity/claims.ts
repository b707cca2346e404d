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

/** The same of mints that have many events: a third of the time where one has 166,000, and it costs time alone elsewhere. */
export const recentClaimsOfBusy = sharedLookup<ClaimRow>('mint', async (store, mints) =>
  (await Promise.all(mints.map((mint) => claimsOfBusy(store, mint)))).flat(),
);

/** So many are looked for: some of them are there twice, or were struck out. */
const LOOKED_FOR = 2 * RECENT_CLAIMS_MAX;

/** Which slots have claims, the newest first, is found without merging all events of the mint. */
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
