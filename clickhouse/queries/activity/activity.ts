import { FIRST_DERIVED_POSITION } from '../../../schemas/extract/groups.ts';
import type { Store } from '../../client.ts';

export interface EventRow {
  kind: string;
  actor: string;
  /** JSON object, as served. */
  summary: string;
  slot: string;
  signature: string;
  block_time: string | null;
  derived: 0 | 1;
}

/** One page of a mint's events, newest first: by slot, index of the transaction in the block, position in it. */
export async function activityPage(
  store: Store,
  mint: string,
  limit: number,
  offset: number,
): Promise<EventRow[]> {
  return store.query<EventRow>(
    `SELECT kind, actor, summary, slot, signature, block_time, position >= ${FIRST_DERIVED_POSITION} AS derived
     FROM events FINAL
     WHERE mint = {mint:String} AND kind != ''
     ORDER BY slot DESC, tx_index DESC, signature DESC, position DESC
     LIMIT {limit:UInt32} OFFSET {offset:UInt32}`,
    { mint, limit, offset },
  );
}
