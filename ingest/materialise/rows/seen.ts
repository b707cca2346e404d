import type { LatestColumns, LatestTable, StateRow } from '../../../clickhouse/tables.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { hourOf } from '../../../schemas/units.ts';
import type { LatestState } from './account.ts';

/** A good state of an address. */
export interface SeenState {
  /** The bytes of its address. */
  key: string;
  record: AccountRecord;
  version: bigint;
  reading: LatestState | 'missing';
  /** '' where no account stands and nothing said what was expected there. */
  table: LatestTable | '';
  /** Unix seconds of the slot in which it was seen last; null where that is not known. */
  seenAt: number | null;
  /** The stored row of the same state, whose slot and time it keeps. */
  kept: StoredRow | null;
  novelty: Novelty;
}

/**
 * How a state compares with what is known of its address. `repeats`: a reading that found the state known before it.
 * `behind`: a reading older than what is known: what stood there before it is not known any more.
 */
export type Novelty = 'new' | 'repeats' | 'behind';

export type LatestRow = StateRow & Partial<LatestColumns[LatestTable]>;

/** A row as it is read: integers over 32 bits are text. */
export type StoredRow = Omit<StateRow, 'block_time'> & { block_time: string | null } & Record<
    string,
    unknown
  >;

/** A state of an address, and the table that its row belongs to. */
export interface PlacedRow extends Pick<SeenState, 'table' | 'novelty'> {
  row: LatestRow;
  /**
   * The hour in which it was seen; if it was read again, that of the last reading; null where the time is not known.
   */
  hour: number | null;
}

/** Order of the states of an address: by slot, inside it by write_version. */
export function versionOf(record: Pick<AccountRecord, 'slot' | 'writeVersion'>): bigint {
  return (record.slot << 64n) | record.writeVersion;
}

export const isStored = (known: SeenState | StoredRow): known is StoredRow => 'address' in known;

/** Whether the state was read over RPC. */
export const isFromRpc = (known: SeenState | StoredRow): boolean =>
  (isStored(known) ? known.source : known.record.source) === 'rpc';

export function placedRow(seen: SeenState): PlacedRow {
  const { table, novelty, seenAt } = seen;
  return { table, novelty, row: rowOf(seen), hour: hourOf(seenAt) };
}

function rowOf({ record, version, reading, kept }: SeenState): LatestRow {
  const row: LatestRow = {
    address: encodeBase58(record.address),
    slot: record.slot.toString(),
    version: version.toString(),
    block_time: record.blockTime,
    source: record.source,
    exists: reading === 'missing' ? 0 : 1,
  };
  if (reading !== 'missing') Object.assign(row, reading.columns());
  if (kept !== null) keepTime(row, kept);
  return row;
}

function keepTime(row: LatestRow & { signature?: string | null }, kept: StoredRow): void {
  row.slot = kept.slot;
  row.block_time = kept.block_time === null ? null : Number(kept.block_time);
  row.source = kept.source;
  if (row.signature !== undefined) row.signature = kept.signature as string | null;
}
