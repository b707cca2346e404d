import { RECENT_CLAIMS_MAX } from '../../../schemas/responses/coin/fees.ts';
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

/** The newest FeesClaimed events of these mints, at most RECENT_CLAIMS_MAX of each, by mint. */
export const recentClaims = sharedLookup<ClaimRow>('mint', (store, mints) =>
  store.query(
    `SELECT mint, signature, slot, block_time, amount_a AS quote_amount, amount_b AS base_amount
     FROM events FINAL
     WHERE mint IN {mints:Array(String)} AND kind = 'FeesClaimed'
     ORDER BY slot DESC, tx_index DESC, signature DESC, position DESC
     LIMIT {limit:UInt32} BY mint`,
    { mints, limit: RECENT_CLAIMS_MAX },
  ),
);

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
