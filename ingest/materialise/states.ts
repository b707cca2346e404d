import { CHANGE_KEYS } from '../../clickhouse/changes.ts';
import type { Store } from '../../clickhouse/client.ts';
import type { AccountHourRow, CarriedRow, UnseenRow } from '../../clickhouse/hour-tables.ts';
import type { LatestTable, StateRow } from '../../clickhouse/tables.ts';
import { chunks } from '../../runtime/chunks.ts';
import type { CarriedRecord, MarkerRecord, TimeRecord, UnseenRecord } from '../../schemas/records.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { hourOf } from '../../schemas/units.ts';
import { markedCover, toldSlots } from './marked-cover.ts';
import { createNewMarks } from './rows/high-water-marks.ts';
import { createFirstStreamed, hourRows } from './rows/hours/hours.ts';
import { datedHours, datedRows, withToldTimes } from './rows/hours/late-times.ts';
import { keepUnchangedHours } from './rows/hours/unchanged-hours.ts';
import { latestRows } from './rows/latest.ts';
import type { BatchStates } from './rows/read-states.ts';
import type { LatestRow } from './rows/seen.ts';
import { ADDRESSES_PER_QUESTION, storedStates } from './rows/stored-states.ts';
import { createVenuePlaces } from './rows/venue-places.ts';
import { broughtRows } from './unseen/brought-changes.ts';
import { createHighestUnseen } from './unseen/highest-unseen.ts';

/** Inserts rows and notes them as changed. @param keys what changed, where the rows do not say it. */
export type Insert = (table: string, rows: readonly object[], keys?: readonly string[]) => Promise<void>;

/** What a batch says of accounts. */
export interface States {
  states: BatchStates;
  /** Times of slots that had none when states were read in them. */
  times: readonly TimeRecord[];
  /** From which slots on a stream brings an account, or does not. */
  carried: readonly CarriedRecord[];
  /** Accounts of which the stream left something out in a slot. */
  unseen: readonly UnseenRecord[];
  /** Empty where the batch is read again beside the partition's owner. */
  markers: readonly MarkerRecord[];
  /** Where the partition stands. */
  before: { slot: bigint; blockTime: number | null };
  /** Whether the batch follows on what this process wrote of the partition. */
  isContinuation: boolean;
}

/**
 * Readers of hours read only those that each partition has passed: a row of such an hour is news to them. So is a state
 * that comes from the stream behind an RPC reading, of whatever hour: up to its slot the stream had brought everything.
 */
const NEWS = [''];
const NO_NEWS: string[] = [];

/** Writes latest states, and the closing states of hours beside them. */
export function createStates(store: Store): (states: States, insert: Insert) => Promise<void> {
  const first = createFirstStreamed();
  const marks = createNewMarks();
  const places = createVenuePlaces();
  const unseen = createHighestUnseen(store);
  return async ({ states, times, carried, unseen: leftOut, markers, before, isContinuation }, insert) => {
    const latest = latestRows(states.seen, await storedStates(store, states.seen));
    await keepUnchangedHours(store, latest.closings);
    const { closings, waiting: undated } = hourRows(latest.closings);
    const waiting = await withToldTimes(store, undated);
    const passed = hourOf(before.blockTime) ?? Number.POSITIVE_INFINITY;
    const newsOf = (rows: readonly { hour: number | null }[]) =>
      rows.some(({ hour }) => hour === null || hour < passed) ? NEWS : NO_NEWS;
    const streamed = first.rowsOf(latest.streamed);
    unseen.found(latest.unseen);
    const highest = await unseen.slot(isContinuation);
    const isBehind = streamed.some(({ slot }) => BigInt(slot) < highest);
    const brought = await broughtRows(store, states.seen, { highest, found: latest.unseen });
    const newMarks = marks.of(states.marks);
    const newPlaces = places.rowsOf(latest.tables.get('venue_accounts') ?? []);
    const insertHours = async (rows: readonly AccountHourRow[], news: readonly string[]) => {
      await insert('account_hours', rows, news);
      // Counted after its rows: sums of hours are kept once these are passed, and could else be kept without the rows.
      if (news === NEWS) await insert('hour_writes', hourWrites(rows), NO_NEWS);
    };
    // Before the latest states: once these are stored, it cannot be seen any more that the stream did not bring them;
    // and hours may not say less than they do.
    await Promise.all([
      insert('unseen_changes', [...latest.unseen, ...leftOut.map(leftOutRow)], NEWS),
      insert('brought_changes', brought, NEWS),
      insert(
        'carried_accounts',
        carried.map(carriedRow),
        newsOf(carried.map(({ blockTime }) => ({ hour: hourOf(blockTime) }))),
      ),
      insertHours(closings, isBehind ? NEWS : newsOf(closings)),
      insert('undated_hours', waiting, NO_NEWS),
      insert('first_streamed', streamed, NO_NEWS),
      insert('policy_marks', newMarks, NO_NEWS),
      insert('venue_accounts_by_policy', newPlaces, NO_NEWS),
    ]);
    first.wrote(streamed);
    marks.wrote(newMarks);
    places.wrote(newPlaces);
    await Promise.all([
      ...[...latest.tables].map(async ([table, rows]) =>
        insert(table, rows, await keysOfMoved(store, table, rows)),
      ),
      ...[...latest.closed].map(async ([table, rows]) =>
        insert(table, rows, await keysOf(store, table, rows)),
      ),
    ]);
    const dated = await datedHours(store, times);
    await insertHours(dated.closings, newsOf(dated.closings));
    await insert('undated_hours', dated.told, NO_NEWS);
    for (const { table, rows } of await datedRows(store, times)) await insert(table, rows);
    const { hours, holes } = markedCover(markers, before);
    const told = toldSlots(times);
    // Readers may have read everything up to the beginning of the hour that the partition is in.
    const isNews = told.some(({ hour }) => hour <= passed);
    await insert('hour_slots', [...hours, ...told], isNews ? NEWS : NO_NEWS);
    await insert('stream_holes', holes, NEWS);
  };
}

/** One row for each hour: the number of these rows ever written tells whether something was written since. */
const hourWrites = (rows: readonly AccountHourRow[]): object[] =>
  [...new Set(rows.map(({ hour }) => hour))].map((hour) => ({ hour, written: 1 }));

/**
 * How the account was at the end of the slot is not known. By these two slots readers know that a state from before
 * the slot holds up to it, and one from behind it from there on; they do not take the second for when it changed.
 */
const leftOutRow = ({ address, slot }: UnseenRecord): UnseenRow => ({
  address: encodeBase58(address),
  after_slot: (slot - 1n).toString(),
  to_slot: (slot + 1n).toString(),
  state: null,
});

const carriedRow = ({ address, slot, carried }: CarriedRecord): CarriedRow => ({
  address: encodeBase58(address),
  slot: slot.toString(),
  carried: carried ? 1 : 0,
});

/**
 * A metadata account may name another mint than it did: readers of the former mint find it no more, and must be told.
 * Every other account keeps the key by which readers know it, and its row has that.
 */
async function keysOfMoved(
  store: Store,
  table: LatestTable,
  rows: readonly LatestRow[],
): Promise<string[] | undefined> {
  if (table !== 'metadata_accounts') return undefined;
  // A metadata account that is gone names no mint: only the stored key is left.
  const named = rows.flatMap((row) => ('mint' in row && row.mint !== undefined ? [row.mint] : []));
  return [...named, ...(await keysOf(store, table, rows))];
}

/**
 * Where else the key is stored by which readers know an account: its own row may have lost it, where a process wrote
 * the row that closes or moves the account and was killed before it announced that.
 */
const STANDS_ELSEWHERE: Partial<Record<LatestTable, string>> = {
  venue_accounts: 'SELECT policy FROM venue_accounts_by_policy WHERE address IN {addresses:Array(String)}',
  metadata_accounts: 'SELECT address FROM mints WHERE metadata_pointer IN {addresses:Array(String)}',
};

/**
 * The keys by which readers know these accounts as stored. Asked for before rows that close or move them are written.
 */
async function keysOf(store: Store, table: LatestTable, rows: readonly StateRow[]): Promise<string[]> {
  const addresses = rows.map(({ address }) => address);
  const column = CHANGE_KEYS[table];
  if (column === 'address') return addresses;
  const elsewhere = STANDS_ELSEWHERE[table];
  const keys: string[] = [];
  for (const some of chunks(addresses, ADDRESSES_PER_QUESTION)) {
    const found = await store.query<{ key: string }>(
      `SELECT DISTINCT key FROM (
         SELECT ${column} AS key FROM ${table} WHERE address IN {addresses:Array(String)}
         ${elsewhere === undefined ? '' : `UNION ALL ${elsewhere}`}
       )`,
      { addresses: some },
    );
    keys.push(...found.map(({ key }) => key));
  }
  return keys;
}
