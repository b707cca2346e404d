import type { Store } from '../../../../clickhouse/client.ts';
import type { AccountHourRow, UndatedHourRow } from '../../../../clickhouse/hour-tables.ts';
import { TOLD_TIME } from '../../../../clickhouse/queries/progress/undated-states.ts';
import { LATEST_TABLES, type LatestTable, type StateRow } from '../../../../clickhouse/tables.ts';
import { chunks } from '../../../../runtime/chunks.ts';
import type { TimeRecord } from '../../../../schemas/records.ts';
import { encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { ADDRESSES_PER_QUESTION } from '../stored-states.ts';
import { datedHour, toldRow } from './hours.ts';

/**
 * The stored rows of these addresses at these slots, with the times that were not known; of the same version, so that
 * later states stand. Rows that have their time already are included: a process that died may not have announced them.
 * Asked for once everything else of the batch is written.
 */
export async function datedRows(
  store: Store,
  records: readonly TimeRecord[],
): Promise<{ table: LatestTable; rows: StateRow[] }[]> {
  const times = timesOf(records);
  const dated: { table: LatestTable; rows: StateRow[] }[] = [];
  const addresses = [...new Set(records.map(({ address }) => encodeBase58(address)))];
  for (const some of chunks(addresses, ADDRESSES_PER_QUESTION)) {
    for (const table of LATEST_TABLES) {
      const stored = await store.query<StateRow>(
        `SELECT * FROM ${table} FINAL WHERE address IN {addresses:Array(String)}`,
        { addresses: some },
      );
      const rows = stored.flatMap((row) => {
        const time = times.get(`${row.address} ${row.slot}`);
        return time === undefined ? [] : [{ ...row, block_time: time }];
      });
      dated.push({ table, rows });
    }
  }
  return dated;
}

/**
 * A log that is read again brings waiting rows once more: those whose time was told keep it, and are not asked for
 * again.
 */
export async function withToldTimes(
  store: Store,
  rows: readonly UndatedHourRow[],
): Promise<UndatedHourRow[]> {
  const told = new Map<string, number>();
  for (const some of chunks(rows, ADDRESSES_PER_QUESTION)) {
    const stored = await store.query<Omit<UndatedHourRow, 'state'> & { time: string }>(
      `SELECT address, slot, version, ${TOLD_TIME} AS time FROM undated_hours FINAL
       WHERE (address, slot) IN arrayZip({addresses:Array(String)}, {slots:Array(UInt64)}) AND time IS NOT NULL`,
      { addresses: some.map(({ address }) => address), slots: some.map(({ slot }) => BigInt(slot)) },
    );
    for (const row of stored) told.set(nameOf(row), Number(row.time));
  }
  return rows.map((row) => {
    const time = told.get(nameOf(row));
    return time === undefined ? row : toldRow(row, time);
  });
}

const nameOf = ({ address, slot, version }: Omit<UndatedHourRow, 'state'>): string =>
  `${address} ${slot} ${version}`;

/** Closing states whose times have become known. */
export interface DatedHours {
  closings: AccountHourRow[];
  /** The waiting rows with their times, so that these are not asked for again; to be written after the closings. */
  told: UndatedHourRow[];
}

/**
 * The closing states of these addresses at these slots, whatever came behind them since: in the hours of the slots, and
 * in those in which the states were read again. Asked for once everything else of the batch is written.
 */
export async function datedHours(store: Store, records: readonly TimeRecord[]): Promise<DatedHours> {
  const times = timesOf(records);
  const dated: DatedHours = { closings: [], told: [] };
  const timeOf = ({ address, slot }: { address: string; slot: string }) =>
    times.get(`${address} ${slot}`) as number;
  for (const some of chunks(records, ADDRESSES_PER_QUESTION)) {
    const asked = {
      addresses: some.map(({ address }) => encodeBase58(address)),
      slots: some.map(({ slot }) => slot),
    };
    const waiting = await store.query<UndatedHourRow>(
      `SELECT address, slot, version, state FROM undated_hours FINAL
       WHERE (address, slot) IN arrayZip({addresses:Array(String)}, {slots:Array(UInt64)})`,
      asked,
    );
    for (const row of waiting) {
      dated.closings.push(datedHour(row, timeOf(row)));
      dated.told.push(toldRow(row, timeOf(row)));
    }
    const repeated = await store.query<AccountHourRow & { slot: string }>(
      `SELECT * FROM account_hours FINAL
       WHERE address IN {addresses:Array(String)} AND slot IS NOT NULL
         AND (address, assumeNotNull(slot)) IN arrayZip({addresses:Array(String)}, {slots:Array(UInt64)})`,
      asked,
    );
    for (const row of repeated) dated.closings.push({ ...row, slot: null, block_time: timeOf(row) });
  }
  return dated;
}

/** By address and slot. */
const timesOf = (records: readonly TimeRecord[]): Map<string, number> =>
  new Map(records.map(({ address, slot, blockTime }) => [`${encodeBase58(address)} ${slot}`, blockTime]));
