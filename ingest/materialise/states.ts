import { CHANGE_KEYS, type ChangedTable } from '../../clickhouse/changes.ts';
import type { Store } from '../../clickhouse/client.ts';
import {
  type AccountHourRow,
  LATEST_TABLES,
  type StateRow,
  type UnseenRow,
} from '../../clickhouse/tables.ts';
import { chunks } from '../../runtime/chunks.ts';
import type { MarkerRecord, TimeRecord } from '../../schemas/records.ts';
import { hourOf } from '../../schemas/units.ts';
import { createFirstStreamed, hourRows } from './rows/hours.ts';
import { datedHours, datedRows } from './rows/late-times.ts';
import type { LatestRows } from './rows/latest.ts';
import { createNewMarks } from './rows/marks.ts';
import { ADDRESSES_PER_QUESTION, keepUnchanged, unseenChange } from './rows/unchanged.ts';
import { keepUnchangedHours } from './rows/unchanged-hours.ts';
import { streamCover } from './stream-cover.ts';

/** Inserts rows and notes them as changed. @param keys what changed, where the rows do not say it. */
export type Insert = (table: string, rows: readonly object[], keys?: readonly string[]) => Promise<void>;

/** What a batch says of accounts. */
export interface States {
  latest: LatestRows;
  /** Of slots that had no time when states of them were read. */
  times: readonly TimeRecord[];
  /** None where the batch is read again beside the partition's owner. */
  markers: readonly MarkerRecord[];
  /** Where the partition stands. */
  before: { slot: bigint; blockTime: number | null };
}

/** Who reads hours reads those alone that each partition has passed: a row of such an hour is news. */
const NEWS = [''];
const NO_NEWS: string[] = [];

/** Writes latest states, and the closing states of hours beside them. */
export function createStates(store: Store): (states: States, insert: Insert) => Promise<void> {
  const first = createFirstStreamed();
  const marks = createNewMarks();
  return async ({ latest, times, markers, before }, insert) => {
    const found = await keepUnchanged(store, latest);
    await keepUnchangedHours(store, found.behind);
    const gone = await knownGone(store, latest.gone);
    const { closings, waiting, undated } = hourRows(latest.closings);
    const unseen = [...latest.unseen, ...found.unseen, ...gone.unseen, ...undated];
    const passed = hourOf(before.blockTime) ?? Number.POSITIVE_INFINITY;
    const newsOf = (rows: readonly AccountHourRow[]) =>
      rows.some(({ hour }) => hour < passed) ? NEWS : NO_NEWS;
    const streamed = first.rowsOf(latest.streamed);
    const newMarks = marks.of(latest.marks);
    // Before the latest states: once these are stored, nobody sees any more that the stream did not bring them; and an
    // hour that says less than they do lacks something.
    await Promise.all([
      insert('unseen_changes', unseen, NEWS),
      insert('account_hours', closings, newsOf(closings)),
      insert('undated_hours', waiting, NO_NEWS),
      insert('first_streamed', streamed, NO_NEWS),
      insert('policy_marks', newMarks, NO_NEWS),
    ]);
    first.wrote(streamed);
    marks.wrote(newMarks);
    await Promise.all([
      ...[...latest.tables].map(([table, rows]) => insert(table, rows)),
      ...gone.closed.map(({ table, rows, keys }) => insert(table, rows, keys)),
    ]);
    const dated = await datedHours(store, times);
    await insert('account_hours', dated, newsOf(dated));
    for (const { table, rows } of await datedRows(store, times)) await insert(table, rows);
    const { hours, holes } = streamCover(markers, before);
    await insert('hour_slots', hours, NO_NEWS);
    await insert('stream_holes', holes, NEWS);
  };
}

interface KnownGone {
  closed: { table: ChangedTable; rows: StateRow[]; keys: string[] }[];
  unseen: UnseenRow[];
}

/** Known accounts that no longer exist are closed in the tables that hold them. */
async function knownGone(store: Store, gone: ReadonlyMap<string, StateRow>): Promise<KnownGone> {
  const known: KnownGone = { closed: [], unseen: [] };
  for (const addresses of chunks([...gone.keys()], ADDRESSES_PER_QUESTION)) {
    for (const table of LATEST_TABLES) {
      const held = await store.query<{ address: string; keys: string[]; last: string; stands: 0 | 1 }>(
        `SELECT address, groupUniqArray(${CHANGE_KEYS[table]}) AS keys, toString(max(version)) AS last,
           argMax(exists, version) AS stands
         FROM ${table} WHERE address IN {addresses:Array(String)} GROUP BY address`,
        { addresses },
      );
      if (held.length === 0) continue;
      const rows = held.map(({ address }) => gone.get(address) as StateRow);
      known.closed.push({ table, rows, keys: held.flatMap(({ keys }) => keys) });
      for (const { address, last, stands } of held) {
        const row = gone.get(address) as StateRow;
        const isRead = row.source === 'rpc' && BigInt(row.version) > BigInt(last);
        if (isRead && stands === 1) known.unseen.push(unseenChange(row, last));
      }
    }
  }
  return known;
}
