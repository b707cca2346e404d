import type { Store } from '../../client.ts';
import { STANDING } from '../activity/derived.ts';
import { FIRST_SLOT_AFTER } from './slot-bounds.ts';

export interface KindCountRow {
  kind: string;
  count: number;
  last_time: string | null;
}

/** What lies in the window whole is told by the sums of its run of slots; the facts are read of runs that its ends cut. */
const WHOLE = 'first > {after:Int64} AND last <= {until:Int64}';

/** Events whose actor is the keeper, per kind, with `after` < block time <= `until`. */
export async function keeperEventsBetween(
  store: Store,
  after: number,
  until: number,
): Promise<KindCountRow[]> {
  return store.query<KindCountRow>(
    `WITH runs AS (
       SELECT k.span AS span, k.kind AS kind, sum(k.event_count) AS n, min(k.first_event) AS first, max(k.last_event) AS last
       FROM kind_spans AS k FINAL
       WHERE k.actor = 'keeper' AND k.span * 512 >= ${FIRST_SLOT_AFTER}
       GROUP BY k.span, k.kind
     )
     SELECT kind, toUInt32(sum(n)) AS count, max(last) AS last_time FROM (
       SELECT kind, n, last FROM runs WHERE ${WHOLE}
       UNION ALL
       SELECT kind, uniqExact(signature, position) AS n, max(block_time) AS last
       FROM events_by_slot
       WHERE block_time > {after:Int64} AND block_time <= {until:Int64} AND actor = 'keeper' AND ${STANDING}
         AND (intDiv(slot, 512), kind) IN (
           SELECT span, kind FROM runs WHERE last > {after:Int64} AND first <= {until:Int64} AND NOT (${WHOLE}))
       GROUP BY kind
     )
     GROUP BY kind HAVING count > 0
     ORDER BY kind`,
    { after, until },
  );
}

type LastActions = { keeper: string | null; attestor: string | null };

/** Runs of slots among which the newest events are looked for first: some two days. */
const NEWEST_RUNS = 1_000;

/** Block times of the newest event of the keeper and of the newest attestation; null where there is none. */
export async function lastActions(store: Store): Promise<LastActions> {
  // Block times rise with the slots.
  const newest = await lastActionsSince(
    store,
    `(SELECT if(span > ${NEWEST_RUNS}, span - ${NEWEST_RUNS}, 0) FROM kind_spans ORDER BY span DESC LIMIT 1)`,
  );
  return newest.keeper !== null && newest.attestor !== null ? newest : lastActionsSince(store, '0');
}

async function lastActionsSince(store: Store, span: string): Promise<LastActions> {
  const [row] = await store.query<LastActions>(
    `SELECT maxIf(last_event, actor = 'keeper') AS keeper, maxIf(last_event, kind = 'RemoteEquityReported') AS attestor
     FROM kind_spans FINAL WHERE span >= ${span}`,
    {},
  );
  return row ?? { keeper: null, attestor: null };
}
