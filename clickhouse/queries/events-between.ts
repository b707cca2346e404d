import type { Store } from '../client.ts';
import { STANDING } from './derived.ts';

export interface EventCountRow {
  mint: string;
  count: number;
  last_time: string | null;
}

/**
 * Events per mint with `after` < block time <= `until`, in unix seconds. An identity that is stored twice counts
 * once; without FINAL the index on the time narrows the read.
 */
export async function eventsBetween(
  store: Store,
  mints: readonly string[],
  after: number,
  until: number,
): Promise<Map<string, EventCountRow>> {
  if (mints.length === 0) return new Map();
  const rows = await store.query<EventCountRow>(
    `SELECT mint, toUInt32(uniqExact(signature, position)) AS count, max(block_time) AS last_time
     FROM events_by_slot
     WHERE block_time > {after:Int64} AND block_time <= {until:Int64} AND mint IN {mints:Array(String)} AND ${STANDING}
     GROUP BY mint`,
    { mints: [...mints], after, until },
  );
  return new Map(rows.map((row) => [row.mint, row]));
}

export interface KindCountRow {
  kind: string;
  count: number;
  last_time: string | null;
}

/** Events whose actor is the keeper, per kind, with `after` < block time <= `until`. */
export async function keeperEventsBetween(
  store: Store,
  after: number,
  until: number,
): Promise<KindCountRow[]> {
  return store.query<KindCountRow>(
    `SELECT kind, toUInt32(uniqExact(signature, position)) AS count, max(block_time) AS last_time
     FROM events_by_slot
     WHERE block_time > {after:Int64} AND block_time <= {until:Int64} AND actor = 'keeper' AND ${STANDING}
     GROUP BY kind
     ORDER BY kind`,
    { after, until },
  );
}

/** Block times of the newest event of the keeper and of the newest attestation; null where there is none. */
export async function lastActions(store: Store): Promise<{ keeper: string | null; attestor: string | null }> {
  const [row] = await store.query<{ keeper: string | null; attestor: string | null }>(
    `SELECT maxIf(block_time, actor = 'keeper') AS keeper, maxIf(block_time, kind = 'RemoteEquityReported') AS attestor
     FROM events_by_slot`,
    {},
  );
  return row ?? { keeper: null, attestor: null };
}
