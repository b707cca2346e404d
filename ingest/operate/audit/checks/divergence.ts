import {
  firstSlotAbove,
  type SummedEvents,
  type Term,
} from '../../../../clickhouse/queries/audit/first-slot.ts';
import type { AuditContext } from '../context.ts';

/**
 * The first slot at which a sum of events and the other source's value differ. Where the events sum to more, that is
 * where their running sum passes the other value; where they sum to less, one is missing, and the chain is asked for
 * the first that is not stored.
 */
export async function firstDivergence(
  context: AuditContext,
  events: SummedEvents,
  terms: readonly Term[] | null,
  values: { events: string; other: string },
): Promise<string | null> {
  if (terms === null) return null;
  if (BigInt(values.events) > BigInt(values.other)) {
    const limit = BigInt(values.other) < 0n ? '0' : values.other;
    return firstSlotAbove(context.store, events, terms, limit);
  }
  return events.of === 'mint' ? context.firstLost(events.mint, events.upTo) : null;
}
