import type { Store } from '../../client.ts';
import { AT_LOW_COST } from './ranges.ts';
import { READ_WHOLE } from './unapplied.ts';

/** Events of a kind in a run of 512 slots and one partition of the log. */
export interface KindRun {
  span: string;
  kind: string;
  actor: string;
  log_partition: number;
  event_count: string;
  /** Unix seconds. */
  first_event: string | null;
  last_event: string | null;
}

/** Runs of slots: `from` is among them, `to` is not. */
export interface RunRange {
  from: number;
  to: number;
}

/** The runs that have an event or a row; null where there is neither. */
export async function allRuns(store: Store): Promise<RunRange | null> {
  const [row] = await store.query<{ first: string | null; last: string | null }>(
    `SELECT min(at) AS first, max(at) AS last FROM (
       SELECT minOrNull(intDiv(slot, 512)) AS at FROM events_by_slot
       UNION ALL SELECT maxOrNull(intDiv(slot, 512)) FROM events_by_slot
       UNION ALL SELECT minOrNull(span) FROM kind_spans
       UNION ALL SELECT maxOrNull(span) FROM kind_spans
     ) ${AT_LOW_COST}`,
  );
  if (row?.first == null || row.last == null) return null;
  return { from: Number(row.first), to: Number(row.last) + 1 };
}

/** The counts that windows of time are made of; rows without events are left out. */
export function storedKinds(store: Store, { from, to }: RunRange): Promise<KindRun[]> {
  return store.query<KindRun>(
    `SELECT span, kind, actor, log_partition, event_count, first_event, last_event FROM kind_spans FINAL
     WHERE span >= {from:UInt64} AND span < {to:UInt64} AND event_count > 0
     ORDER BY span, kind, actor, log_partition ${AT_LOW_COST}`,
    { from, to },
  );
}

/** The same counts made of the facts. `print` is a hash of the counted facts: it changes where any of them does. */
export function recountedKinds(
  store: Store,
  { from, to }: RunRange,
): Promise<(KindRun & { print: string })[]> {
  return store.query<KindRun & { print: string }>(
    `SELECT intDiv(slot, 512) AS span, kind, actor, log_partition, toString(count()) AS event_count,
       min(block_time) AS first_event, max(block_time) AS last_event,
       toString(groupBitXor(cityHash64(slot, signature, position, kind, has_index, block_time))) AS print
     FROM events_by_slot FINAL
     WHERE slot >= {from:UInt64} * 512 AND slot < {to:UInt64} * 512 AND kind != '' AND block_time IS NOT NULL
     GROUP BY span, kind, actor, log_partition
     ORDER BY span, kind, actor, log_partition ${AT_LOW_COST}`,
    { from, to },
  );
}

/** Events of these runs whose batch has not written all that follows from them. */
export async function unappliedOfRuns(store: Store, { from, to }: RunRange): Promise<number> {
  const [row] = await store.query<{ count: string }>(
    `SELECT toString(count()) AS count FROM events_by_slot FINAL
     WHERE slot >= {from:UInt64} * 512 AND slot < {to:UInt64} * 512 AND ${READ_WHOLE}
       AND (signature, has_index, ifNull(block_time, -1)) NOT IN (
         SELECT signature, has_index, ifNull(block_time, -1) FROM transactions FINAL
         WHERE signature IN (
           SELECT signature FROM events_by_slot WHERE slot >= {from:UInt64} * 512 AND slot < {to:UInt64} * 512)
       )
     ${AT_LOW_COST}`,
    { from, to },
  );
  return Number(row?.count ?? 0);
}
