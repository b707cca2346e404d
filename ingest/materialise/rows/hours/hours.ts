import type {
  AccountHourRow,
  FirstStreamedRow,
  LowestSlot,
  UndatedHourRow,
} from '../../../../clickhouse/hour-tables.ts';
import { HOUR_COLUMNS, type HourTable } from '../../../../clickhouse/tables.ts';
import { createLru } from '../../../../runtime/lru.ts';
import { hourOf } from '../../../../schemas/units.ts';
import { versionOfLowest } from '../lowest-slot.ts';
import type { LatestRow, PlacedRow } from '../seen.ts';
import type { FirstSeen } from './closings.ts';

/** What a batch says of the hours of accounts. */
export interface HourRows {
  closings: AccountHourRow[];
  /** States whose hour is not known. */
  waiting: UndatedHourRow[];
}

export const isKept = (table: PlacedRow['table']): table is HourTable | '' =>
  table === '' || Object.hasOwn(HOUR_COLUMNS, table);

/** The rows of hours that these states make. */
export function hourRows(placed: readonly PlacedRow[]): HourRows {
  const rows: HourRows = { closings: [], waiting: [] };
  for (const { table, row, hour, novelty } of placed) {
    if (!isKept(table)) continue;
    if (hour !== null) rows.closings.push({ ...closingRow(table, row), hour });
    // The row of a reading that repeats a state has the slot of that state, and states between the two may still come.
    // Of a reading that came `behind` it is not known any more whether it repeated one.
    else if (novelty === 'new') rows.waiting.push(waitingRow(table, row));
  }
  return rows;
}

/** The closing row of a state that had no hour, now that the time of its slot is known. */
export function datedHour({ state }: UndatedHourRow, time: number): AccountHourRow {
  const row = JSON.parse(state) as Omit<AccountHourRow, 'hour'>;
  return { ...row, hour: hourOf(time) as number, slot: null, block_time: time };
}

/** The row of a waiting state with its time; it has the same version, and so replaces the row without. */
export function toldRow(waiting: UndatedHourRow, time: number): UndatedHourRow {
  const { address, slot, version, state } = waiting;
  return { address, slot, version, state: JSON.stringify({ ...JSON.parse(state), block_time: time }) };
}

/** The row has no time, though it may have become known since the state first came. */
function waitingRow(table: HourTable | '', row: LatestRow): UndatedHourRow {
  const { address, slot, version } = row;
  const state = { ...closingRow(table, row), slot: null, block_time: null };
  return { address, slot, version, state: JSON.stringify(state) };
}

function closingRow(table: HourTable | '', row: LatestRow): Omit<AccountHourRow, 'hour'> {
  const { address, version, slot, block_time, exists } = row;
  const closing: Omit<AccountHourRow, 'hour'> = {
    ...{ address, version, block_time, exists, held_in: table },
    slot: block_time === null ? slot : null,
  };
  if (table === '' || exists === 0) return closing;
  const state = row as unknown as Record<string, unknown>;
  const columns = closing as unknown as Record<string, unknown>;
  for (const column of HOUR_COLUMNS[table]) columns[column] = state[column];
  return closing;
}

export const lowestSlot = (hour: number, slot: bigint): LowestSlot => ({
  hour,
  slot: slot.toString(),
  before: versionOfLowest(slot),
});

/** Accounts whose hour is remembered; beyond that, rows are written that say nothing new. */
const MOST_REMEMBERED = 200_000;

/** The first states of hours that the stream brought, each written once by this process as long as it remembers. */
export interface FirstStreamed {
  /** Rows that are not written yet. */
  rowsOf(states: readonly FirstSeen[]): FirstStreamedRow[];
  /** Notes that these rows are written. */
  wrote(rows: readonly FirstStreamedRow[]): void;
}

export function createFirstStreamed(): FirstStreamed {
  const written = createLru<{ hour: number; slot: bigint }>(MOST_REMEMBERED);
  return {
    rowsOf: (states) => {
      const rows = new Map<string, FirstStreamedRow>();
      for (const { address, hour, slot } of states) {
        const told = written.get(address);
        if (told?.hour === hour && told.slot <= slot) continue;
        const key = `${hour} ${address}`;
        const known = rows.get(key);
        if (known === undefined || BigInt(known.slot) > slot)
          rows.set(key, { address, ...lowestSlot(hour, slot) });
      }
      return [...rows.values()];
    },
    wrote: (rows) => {
      for (const { address, hour, slot } of rows) {
        const told = written.get(address);
        if (told === undefined || told.hour <= hour) written.set(address, { hour, slot: BigInt(slot) });
      }
    },
  };
}
