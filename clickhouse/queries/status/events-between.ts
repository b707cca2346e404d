import { DAY_S } from '../../../schemas/units.ts';
import type { Store } from '../../client.ts';
import { notTakenBackFrom } from '../activity/derived.ts';
import { type DayWindow, type Edges, untilOf } from '../ranking/day-windows.ts';
import { FIRST_SLOT_AFTER } from './slot-bounds.ts';

export interface KindCountRow {
  kind: string;
  count: number;
  last_time: string | null;
}

/** That a run of slots lies in the window whole: its sums count. Of runs that the ends cut the facts are read. */
const WHOLE = 'first > {after:Int64} AND last <= {until:Int64}';

/** Events of the last 24 hours whose actor is the keeper, per kind: `until` − 24 h < block time <= `until`. */
export async function keeperOfDay(store: Store, until: number): Promise<DayWindow<KindCountRow[]>> {
  const rows = await store.query<KindCountRow & Edges>(
    `WITH runs AS (
       SELECT k.span AS span, k.kind AS kind, sum(k.event_count) AS n, min(k.first_event) AS first, max(k.last_event) AS last
       FROM kind_spans AS k FINAL
       WHERE k.actor = 'keeper' AND k.span * 512 >= ${FIRST_SLOT_AFTER}
       GROUP BY k.span, k.kind
     )
     SELECT kind, toUInt32(sum(n)) AS count, max(last) AS last_time, min(first) AS first_time, min(next) AS next_time FROM (
       SELECT kind, n, first, last, NULL AS next FROM runs WHERE ${WHOLE}
       UNION ALL
       SELECT kind, 0 AS n, NULL AS first, NULL AS last, r.first AS next FROM runs AS r WHERE r.first > {until:Int64}
       UNION ALL
       SELECT kind, uniqExactIf((signature, position), block_time <= {until:Int64}) AS n,
         minIf(block_time, block_time <= {until:Int64}) AS first, maxIf(block_time, block_time <= {until:Int64}) AS last,
         minIf(block_time, block_time > {until:Int64}) AS next
       FROM events_by_slot
       WHERE block_time > {after:Int64} AND actor = 'keeper' AND ${notTakenBackFrom(FIRST_SLOT_AFTER)}
         AND (intDiv(slot, 512), kind) IN (
           SELECT span, kind FROM runs WHERE last > {after:Int64} AND first <= {until:Int64} AND NOT (${WHOLE}))
       GROUP BY kind
     )
     GROUP BY kind
     ORDER BY kind`,
    { after: until - DAY_S, until },
  );
  return {
    row: rows
      .filter(({ count }) => count > 0)
      .map(({ kind, count, last_time }) => ({ kind, count, last_time })),
    until: Math.min(Number.POSITIVE_INFINITY, ...rows.map(untilOf)),
  };
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
