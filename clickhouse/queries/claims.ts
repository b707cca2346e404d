import { RECENT_CLAIMS_MAX } from '../../schemas/responses/fees.ts';
import type { Store } from '../client.ts';
import { sharedLookup } from '../shared-reads.ts';

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

export interface ClaimWindow {
  quote_amount: string;
  base_amount: string;
  count: string;
  last_time: string | null;
}

/** The claims of a mint with `after` < block time <= `until`, in unix seconds. */
export async function claimsBetween(
  store: Store,
  mint: string,
  after: number,
  until: number,
): Promise<ClaimWindow> {
  const [row] = await store.query<ClaimWindow>(
    `SELECT toString(sum(toUInt128(amount_a))) AS quote_amount, toString(sum(toUInt128(amount_b))) AS base_amount,
       toString(count()) AS count, max(block_time) AS last_time
     FROM events FINAL
     WHERE mint = {mint:String} AND kind = 'FeesClaimed'
       AND block_time > {after:Int64} AND block_time <= {until:Int64}`,
    { mint, after, until },
  );
  if (row === undefined) throw new Error('an aggregate without keys gave no row');
  return row;
}
