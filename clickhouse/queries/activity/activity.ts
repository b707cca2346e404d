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

/** For a mint with more, the newest are looked for first, which costs some 3 ms; to go through a million costs 75. */
export const MANY_EVENTS = 20_000;

const page = (least: string) => `
  SELECT kind, actor, summary, slot, signature, block_time, position >= ${FIRST_DERIVED_POSITION} AS derived
  FROM events FINAL
  WHERE mint = {mint:String} AND kind != '' AND slot >= ${least}
  ORDER BY slot DESC, tx_index DESC, signature DESC, position DESC
  LIMIT {limit:UInt32} OFFSET {offset:UInt32}`;

const OF_ALL = page('0');
/** The page of the newest slots that hold `rows` rows of the mint; a row that is there twice counts twice. */
const OF_NEWEST = page(`(
    SELECT slot FROM events WHERE mint = {mint:String} ORDER BY slot DESC LIMIT 1 OFFSET {rows:UInt64})`);

/**
 * One page of a mint's events, newest first: by slot, index of the transaction in the block, position in it.
 * @param isMany whether the mint has more than `MANY_EVENTS`, as far as that is known: a wrong value only costs time
 */
export async function activityPage(
  store: Store,
  mint: string,
  limit: number,
  offset: number,
  isMany: boolean,
): Promise<EventRow[]> {
  const asked = { mint, limit, offset };
  if (isMany) {
    const newest = await store.query<EventRow>(OF_NEWEST, { ...asked, rows: 2 * (offset + limit) });
    if (newest.length === limit) return newest;
    // Too few: rows were there twice or struck out, or the mint has no more.
  }
  return store.query<EventRow>(OF_ALL, asked);
}
