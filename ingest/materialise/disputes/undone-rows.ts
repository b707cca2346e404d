import { nameOf, type TransactionPlace } from '../../../clickhouse/queries/transactions/by-transaction.ts';
import type { StoredReading } from '../../../clickhouse/queries/transactions/disputed.ts';
import { isDecided, READING } from '../../../clickhouse/reading-rank.ts';
import type { DerivedRow, EventRow } from '../../../clickhouse/tables.ts';
import { tombstoneEvent } from '../derived-events.ts';
import { holeAt, noStruckRows, type StruckRows } from '../struck-transactions.ts';

type Reading = StoredReading | EventRow;

interface Written extends TransactionPlace {
  policy: string;
  has_index: number;
}

/**
 * Rows that take out of these readings of decided transactions all that the deciding readings among them do not have.
 */
export function undoneRows(events: readonly Reading[], written: readonly Written[]): StruckRows {
  const rows = noStruckRows();
  for (const of of Map.groupBy(events, nameOf).values()) undoEvents(rows, of);
  for (const of of Map.groupBy(written, nameOf).values()) {
    const decided = new Set(of.filter((one) => isDecided(one.has_index)).map(({ policy }) => policy));
    for (const { policy, slot, signature } of of) {
      if (decided.has(policy)) continue;
      const key = { policy, slot, signature, tx_index: 0, block_time: null };
      rows.policyTransactions.push({ ...key, has_index: READING.struck });
    }
  }
  return rows;
}

/** @param all events of one transaction by all its readings, including those that were undone before */
function undoEvents(rows: StruckRows, all: readonly Reading[]): void {
  const others = all.filter(({ has_index }) => !isDecided(has_index));
  const decided = new Map(
    all.filter(({ has_index }) => isDecided(has_index)).map((event) => [event.position, event]),
  );
  for (const event of others) {
    const { slot, signature, position, policy, mint, quote_mint, log_partition } = event;
    const standing = decided.get(position);
    if (standing?.mint === mint) continue;
    const key = { slot, signature, position, policy, mint, quote_mint, block_time: null, log_partition };
    const row: DerivedRow = { ...key, taken_back: 1 };
    rows.events.push({ ...tombstoneEvent(row), has_index: READING.undone });
    // Not where another event has the same place: two can, and differ by their mints alone.
    if (standing === undefined) rows.takenBack.push(row);
  }
  // With another version of the transaction the stream may have brought other states of accounts too.
  const [first] = others;
  const told = new Map(others.map((event) => [event.position, event]));
  const isSame =
    others.every((event) => says(decided.get(event.position)) === says(event)) &&
    [...decided.keys()].every((position) => told.has(position));
  if (first !== undefined && !isSame) rows.holes.push(holeAt(BigInt(first.slot)));
}

/** All that an event says. */
function says(event: Reading | undefined): string | null {
  if (event === undefined) return null;
  const { policy, kind, summary, amount_a, amount_b, amount_c, amount_d } = event;
  return JSON.stringify([policy, kind, summary, amount_a, amount_b, amount_c, amount_d]);
}
