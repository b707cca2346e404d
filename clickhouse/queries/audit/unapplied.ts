import { FIRST_DERIVED_POSITION } from '../../../schemas/extract/groups.ts';
import type { Store } from '../../client.ts';
import type { DayRange } from './days.ts';
import { AT_LOW_COST } from './ranges.ts';

/** Events that need a row of `transactions`: derived ones have none, and what was taken out has its own no more. */
export const READ_WHOLE = `position < ${FIRST_DERIVED_POSITION} AND kind != ''`;

/**
 * A batch writes its events first, then the sums over them, then its rows of `transactions`. An event that no row of
 * `transactions` has as it is belongs to a batch under way or broken off, whose sums need not be there yet.
 */
export async function unappliedOfMint(store: Store, mint: string): Promise<number> {
  const [row] = await store.query<{ count: string }>(
    `SELECT toString(count()) AS count FROM events FINAL
     WHERE mint = {mint:String} AND ${READ_WHOLE} AND (signature, has_index, ifNull(block_time, -1)) NOT IN (
       SELECT signature, has_index, ifNull(block_time, -1) FROM transactions FINAL
       WHERE signature IN (SELECT signature FROM events WHERE mint = {mint:String})
     )
     ${AT_LOW_COST}`,
    { mint },
  );
  return Number(row?.count ?? 0);
}

/** By how much a batch may have moved an event out of its day. */
const LARGEST_CORRECTION_SECONDS = 3_600;

/** The same of the events of some days, those that may have left them included. */
export async function unappliedOfDays(store: Store, { from, to }: DayRange): Promise<number> {
  const [row] = await store.query<{ count: string }>(
    `SELECT toString(count()) AS count FROM events_by_slot FINAL
     WHERE block_time >= {from:Int64} AND block_time < {to:Int64} AND ${READ_WHOLE}
       AND (signature, has_index, ifNull(block_time, -1)) NOT IN (
         SELECT signature, has_index, ifNull(block_time, -1) FROM transactions FINAL
         WHERE signature IN (
           SELECT signature FROM events_by_slot WHERE block_time >= {from:Int64} AND block_time < {to:Int64})
       )
     ${AT_LOW_COST}`,
    { from: from - LARGEST_CORRECTION_SECONDS, to: to + LARGEST_CORRECTION_SECONDS },
  );
  return Number(row?.count ?? 0);
}

/** The same of one transaction, in either table of events. */
export async function unappliedOfTransaction(
  store: Store,
  at: { mint: string; slot: string; signature: string },
): Promise<number> {
  const [row] = await store.query<{ count: string }>(
    `SELECT toString(count()) AS count FROM (
       SELECT has_index, block_time FROM events FINAL
       WHERE mint = {mint:String} AND slot = {slot:UInt64} AND signature = {signature:String} AND ${READ_WHOLE}
       UNION ALL
       SELECT has_index, block_time FROM events_by_slot FINAL
       WHERE slot = {slot:UInt64} AND signature = {signature:String} AND ${READ_WHOLE}
     )
     WHERE (has_index, ifNull(block_time, -1)) NOT IN (
       SELECT has_index, ifNull(block_time, -1) FROM transactions FINAL WHERE signature = {signature:String})
     ${AT_LOW_COST}`,
    at,
  );
  return Number(row?.count ?? 0);
}
