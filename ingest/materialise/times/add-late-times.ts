import type { Store } from '../../../clickhouse/client.ts';
import { nameOf, type TransactionPlace } from '../../../clickhouse/queries/transactions/by-transaction.ts';
import { type EventPlace, standingFacts } from '../../../clickhouse/queries/transactions/event-times.ts';
import type { EventRow } from '../../../clickhouse/tables.ts';
import { intervalOf } from '../rollups/slot-intervals.ts';
import type { Facts } from '../rows/facts.ts';
import type { UndatedEvent } from './event-times.ts';

/** The facts of a batch, and the events that get the time from it that they lacked. */
export interface DatedFacts {
  facts: Facts;
  /** To be written after the sums over them: all of them are in the facts, with their times. */
  dated: readonly EventPlace[];
}

/**
 * A reading that tells the time need not bring the events: its logs are cut where those of an earlier one were whole, its
 * node recorded none, or another reading decides what the transaction did. The stored facts of the transaction are then
 * written once more as they are, with the time.
 * @param facts of the batch, none of which is outranked by a stored one
 * @param undone what the batch takes out
 */
export async function addLateTimes(
  store: Store,
  facts: Facts,
  undated: readonly UndatedEvent[],
  undone: readonly EventRow[],
): Promise<DatedFacts> {
  if (undated.length === 0) return { facts, dated: [] };
  const timed = [...facts.events, ...facts.derived].filter(({ block_time }) => block_time !== null);
  const brought = new Set(timed.map(placeOf));
  const whole = new Set(facts.transactions.map(nameOf));
  // An event that a whole reading does not have is none, or is taken back by it.
  const lacking = undated.filter((one) => !brought.has(placeOf(one)) && !whole.has(nameOf(one)));
  const told = await standingWith(store, lacking, new Set(undone.map(keyOf)));
  const again = new Set(told.events.map(placeOf));
  return {
    facts: {
      ...facts,
      events: [...facts.events, ...told.events],
      transactions: [...facts.transactions, ...told.transactions],
      policyTransactions: [...facts.policyTransactions, ...told.policyTransactions],
      touchedMints: new Set([
        ...facts.touchedMints,
        ...told.events.flatMap(({ policy, mint }) => (policy === '' ? [] : [mint])),
      ]),
      touchedIntervals: new Set([
        ...facts.touchedIntervals,
        ...told.events.map(({ slot }) => intervalOf(BigInt(slot))),
      ]),
    },
    dated: undated
      .filter((one) => brought.has(placeOf(one)) || again.has(placeOf(one)))
      .map(({ time: _, ...place }) => place),
  };
}

/** @param gone keys of events that stand no more once the batch is written */
async function standingWith(
  store: Store,
  lacking: readonly UndatedEvent[],
  gone: ReadonlySet<string>,
): Promise<Pick<Facts, 'events' | 'transactions' | 'policyTransactions'>> {
  const times = new Map(lacking.map((one) => [nameOf(one), one.time]));
  const places = new Set(lacking.map(placeOf));
  const standing = await standingFacts(store, lacking);
  const events = standing.events.filter((one) => places.has(placeOf(one)) && !gone.has(keyOf(one)));
  const names = new Set(events.map(nameOf));
  // The query is by slots and by signatures, and finds more than the wanted pairs.
  const dated = <T extends TransactionPlace>(rows: readonly T[]) =>
    rows
      .filter((row) => names.has(nameOf(row)))
      .map((row) => ({ ...row, block_time: times.get(nameOf(row)) as number }));
  return {
    events: dated(events),
    transactions: dated(standing.transactions),
    policyTransactions: dated(standing.policyTransactions),
  };
}

const placeOf = (event: EventPlace): string => `${nameOf(event)} ${event.position}`;
/** Two events may have the same place, and differ by their mints alone. */
const keyOf = (event: EventPlace & { mint: string }): string => `${placeOf(event)} ${event.mint}`;
