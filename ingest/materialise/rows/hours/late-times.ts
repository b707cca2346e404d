import type { Store } from '../../../../clickhouse/client.ts';
import type { AccountHourRow, UndatedHourRow } from '../../../../clickhouse/hour-tables.ts';
import { LATEST_TABLES, type LatestTable, type StateRow } from '../../../../clickhouse/tables.ts';
import { chunks } from '../../../../runtime/chunks.ts';
import type { TimeRecord } from '../../../../schemas/records.ts';
import { encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { ADDRESSES_PER_QUESTION } from '../stored-states.ts';
import { datedHour } from './hours.ts';

/**
 * What is stored of these addresses as of these slots, with the time that was not known of them: of the same version,
 * so that whatever came behind stands. Those too that have it: a process that died may have told nobody that it wrote them.
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
 * The closing states of these addresses and slots, whatever came behind them since: of the hours that these begin, and of
 * those in which they were read again. Asked for once everything else of the batch is written.
 */
export async function datedHours(store: Store, records: readonly TimeRecord[]): Promise<AccountHourRow[]> {
  const times = timesOf(records);
  const dated: AccountHourRow[] = [];
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
    for (const row of waiting) dated.push(datedHour(row, timeOf(row)));
    const repeated = await store.query<AccountHourRow & { slot: string }>(
      `SELECT * FROM account_hours FINAL
       WHERE address IN {addresses:Array(String)} AND slot IS NOT NULL
         AND (address, assumeNotNull(slot)) IN arrayZip({addresses:Array(String)}, {slots:Array(UInt64)})`,
      asked,
    );
    for (const row of repeated) dated.push({ ...row, slot: null, block_time: timeOf(row) });
  }
  return dated;
}

/** By address and slot. */
const timesOf = (records: readonly TimeRecord[]): Map<string, number> =>
  new Map(records.map(({ address, slot, blockTime }) => [`${encodeBase58(address)} ${slot}`, blockTime]));
