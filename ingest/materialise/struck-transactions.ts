import type { HoleRow } from '../../clickhouse/hour-tables.ts';
import { READING } from '../../clickhouse/reading-rank.ts';
import type { DerivedRow, EventRow, PolicyTransactionRow } from '../../clickhouse/tables.ts';
import type { StruckTransaction, VerifiedRecord } from '../../schemas/records.ts';
import { tombstoneEvent } from './derived-events.ts';

/** Rows that take transactions out of the index that the chain does not have. */
export interface StruckRows {
  events: EventRow[];
  takenBack: DerivedRow[];
  policyTransactions: PolicyTransactionRow[];
  /** Their slots: states that the stream brought of these may be of the version of the slot that died. */
  holes: HoleRow[];
}

/**
 * A slot at whose end the states of accounts are not known: the first known state is of the next slot, or behind it.
 */
export const holeAt = (slot: bigint): HoleRow => ({
  after_slot: (slot - 1n).toString(),
  to_slot: (slot + 1n).toString(),
});

export const noStruckRows = (): StruckRows => ({
  ...{ events: [], takenBack: [], policyTransactions: [], holes: [] },
});

export const joined = (some: StruckRows, others: StruckRows): StruckRows => ({
  events: [...some.events, ...others.events],
  takenBack: [...some.takenBack, ...others.takenBack],
  policyTransactions: [...some.policyTransactions, ...others.policyTransactions],
  holes: [...some.holes, ...others.holes],
});

/** @param partition of the log whose events are this writer's */
export function struckRows(verified: readonly VerifiedRecord[], partition: number): StruckRows {
  const rows = noStruckRows();
  for (const struck of verified.flatMap((record) => record.struck)) addStruck(rows, struck, partition);
  return rows;
}

function addStruck(rows: StruckRows, struck: StruckTransaction, partition: number): void {
  const { signature } = struck;
  const slot = struck.slot.toString();
  for (const { position, policy, mint, quoteMint, logPartition } of struck.events) {
    if (logPartition !== partition) continue;
    const key = { slot, signature, position, policy, mint, quote_mint: quoteMint, block_time: null };
    const row: DerivedRow = { ...key, log_partition: logPartition, taken_back: 1 };
    rows.takenBack.push(row);
    rows.events.push(tombstoneEvent(row));
  }
  // A transaction that had failed wrote nothing: no account is in doubt.
  if (struck.events.length + struck.policies.length > 0) rows.holes.push(holeAt(struck.slot));
  const order = { tx_index: 0, has_index: READING.struck, block_time: null };
  for (const policy of struck.policies) rows.policyTransactions.push({ policy, slot, signature, ...order });
}

/** How far a partition has applied the comparisons with the chain: the newest verified record counts. */
export function verifiedRows(
  verified: readonly { offset: bigint; record: VerifiedRecord }[],
  partition: number,
): { log_partition: number; log_offset: string; slot: string }[] {
  const last = verified.at(-1);
  if (last === undefined) return [];
  return [
    { log_partition: partition, log_offset: last.offset.toString(), slot: last.record.slot.toString() },
  ];
}
