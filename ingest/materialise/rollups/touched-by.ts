import type { EventRow } from '../../../clickhouse/tables.ts';
import type { RecomputeRecord } from '../../../schemas/records.ts';
import { hourOf } from '../../../schemas/units.ts';
import type { Facts } from '../rows/facts.ts';
import { intervalOf, type Touched } from './slot-intervals.ts';

/**
 * Whether one of these events is, may be or may have been of an hour that the partition has passed: an event that is
 * not above the partition's slot may be stored already, with a time that this one corrects.
 */
export function touchPassedHours(
  events: readonly EventRow[],
  passed: { slot: bigint; blockTime: number | null },
): boolean {
  const hour = hourOf(passed.blockTime);
  return events.some(
    ({ slot, block_time }) =>
      hour === null || (hourOf(block_time) ?? 0) < hour || BigInt(slot) <= passed.slot,
  );
}

/** The sums that a batch may have changed. */
export function touchedBy(
  facts: Facts,
  derived: readonly EventRow[],
  asked: readonly RecomputeRecord[],
): Touched {
  const ofPolicies = derived.filter(({ policy }) => policy !== '').map(({ mint }) => mint);
  return {
    mints: new Set([...facts.touchedMints, ...ofPolicies, ...asked.flatMap(({ mints }) => mints)]),
    intervals: new Set([
      ...facts.touchedIntervals,
      ...derived.map(({ slot }) => intervalOf(BigInt(slot))),
      ...asked.flatMap(({ slots }) => slots.map(intervalOf)),
    ]),
  };
}
