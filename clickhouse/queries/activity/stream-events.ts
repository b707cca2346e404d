import { FIRST_DERIVED_POSITION } from '../../../schemas/extract/groups.ts';
import type { Store } from '../../client.ts';
import type { EventRow } from './activity.ts';

/** One event of any policy, by its identity, in the order of the chain. */
export interface EventIdentity {
  slot: string;
  signature: string;
  position: number;
  mint: string;
}

/** Identities of events with `after` < slot <= `until`, at most `most`, in the order of the chain. */
export async function eventIdentities(
  store: Store,
  after: bigint,
  until: bigint,
  most: number,
): Promise<EventIdentity[]> {
  return store.query<EventIdentity>(
    `SELECT slot, signature, position, mint
     FROM events FINAL
     WHERE (mint, slot) IN (
         SELECT mint, slot FROM events_by_slot WHERE slot > {after:UInt64} AND slot <= {until:UInt64} AND mint != '')
       AND slot > {after:UInt64} AND slot <= {until:UInt64} AND kind != ''
     ORDER BY slot, tx_index, signature, position
     LIMIT {most:UInt32}`,
    { after, until, most },
  );
}

/** Whether there are `many` events with `after` < slot <= `until`; one read twice counts twice. Reads no more. */
export async function hasManyEvents(
  store: Store,
  after: bigint,
  until: bigint,
  many: number,
): Promise<boolean> {
  const [row] = await store.query<{ n: string }>(
    `SELECT count() AS n FROM (
       SELECT 1 FROM events_by_slot
       WHERE slot > {after:UInt64} AND slot <= {until:UInt64} AND mint != '' LIMIT {many:UInt32})`,
    { after, until, many },
  );
  return Number(row?.n ?? 0) >= many;
}

export type FullEventRow = EventRow & { mint: string; position: number };

/** The events of some policies with `from` <= slot <= `until`, at most `most`, in the order of the chain. */
export async function eventsOfSlots(
  store: Store,
  mints: readonly string[],
  from: bigint,
  until: bigint,
  most: number,
): Promise<FullEventRow[]> {
  if (mints.length === 0) return [];
  return store.query<FullEventRow>(
    `SELECT mint, kind, actor, summary, slot, signature, position, block_time,
       position >= ${FIRST_DERIVED_POSITION} AS derived
     FROM events FINAL
     WHERE mint IN {mints:Array(String)} AND slot >= {from:UInt64} AND slot <= {until:UInt64} AND kind != ''
     ORDER BY slot, tx_index, signature, position
     LIMIT {most:UInt32}`,
    { mints: [...mints], from, until, most },
  );
}
