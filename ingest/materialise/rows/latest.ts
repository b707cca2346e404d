import type { LatestColumns, LatestTable, StateRow, UnseenRow } from '../../../clickhouse/tables.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import type { AccountRecord, DeadLetterRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { hourOf } from '../../../schemas/units.ts';
import { EXPECTED_TABLES, readAccount } from './account.ts';
import { createClosings, type Seen } from './closings.ts';
import { createMarks, type MarkRow } from './marks.ts';

export type LatestRow = StateRow & Partial<LatestColumns[LatestTable]>;

/** The table of an address; '' where nothing said what was expected there. */
interface Place {
  address: string;
  table: LatestTable | '';
}

/** A state of an address, and the table that its row belongs to. */
export interface PlacedRow extends Pick<Place, 'table'> {
  row: LatestRow;
  opens: boolean;
  /** In which it was seen: of a state that was read again, the hour of that reading; null where its time is not known. */
  hour: number | null;
}

export interface LatestRows {
  /** Rows by table, the newest good state of each address only; the first columns alone where no account stands. */
  tables: Map<LatestTable, LatestRow[]>;
  /** Addresses where nothing stands and nothing said what was expected there. */
  gone: Map<string, StateRow>;
  /** The last good state of each address in each hour; a row of `tables` or `gone` where it is the newest. */
  closings: PlacedRow[];
  /** The slot of the first state of each hour that the stream brought. */
  streamed: (Place & { hour: number; slot: bigint })[];
  /** What the batch says first of an address, where it was read over RPC. */
  readFirst: PlacedRow[];
  /** Changes between two states of the batch that the second, a reading over RPC, brought to light. */
  unseen: UnseenRow[];
  marks: MarkRow[];
  deadLetters: DeadLetterRecord[];
}

/** Order of the states of an address: by slot, inside it by write_version. */
export function versionOf(record: Pick<AccountRecord, 'slot' | 'writeVersion'>): bigint {
  return (record.slot << 64n) | record.writeVersion;
}

/** What a batch of account states writes: every state is read, the newest good one of an address is kept. */
export function latestRows(records: readonly AccountRecord[], programId: Uint8Array): LatestRows {
  const newest = new Map<string, Seen>();
  const readFirst = new Map<string, Seen>();
  const closings = createClosings();
  const marks = createMarks();
  const unseen: UnseenRow[] = [];
  const deadLetters: DeadLetterRecord[] = [];
  for (const record of records) {
    try {
      const reading = readAccount(record, programId);
      if (reading === 'foreign') continue;
      const key = Buffer.from(record.address).toString('latin1');
      closings.streamed(key, record);
      if (reading !== 'missing' && reading.mark !== undefined) marks.add(key, record, reading.mark);
      const known = newest.get(key);
      const version = versionOf(record);
      const seen: Seen = { record, version, reading, seenAt: record.blockTime, opens: known === undefined };
      if (known === undefined) {
        newest.set(key, seen);
        if (record.source === 'rpc') readFirst.set(key, seen);
      } else if (known.version > seen.version) closings.add(key, seen, known);
      else {
        // A reading of the same state moves nothing but the version.
        const again = isReadAgain(known.record, record);
        const next = again ? { ...known, version: seen.version, seenAt: seen.seenAt } : seen;
        newest.set(key, next);
        closings.add(key, known, next);
        if (!again && record.source === 'rpc') unseen.push(unseenRow(known, seen));
      }
    } catch (error) {
      if (!(error instanceof MalformedError)) throw error;
      deadLetters.push(deadAccount(record, error));
    }
  }
  const rows: LatestRows = {
    ...{ tables: new Map(), gone: new Map(), closings: [], streamed: [] },
    ...{ readFirst: [], unseen, marks: marks.rows(), deadLetters },
  };
  const places = new Map<string, Place>();
  for (const [key, seen] of newest) {
    const placed = placedRow(seen);
    const { table, row } = placed;
    if (table === '') rows.gone.set(row.address, row);
    else push(rows.tables, table, row);
    rows.closings.push(placed);
    places.set(key, { table, address: row.address });
    const first = readFirst.get(key);
    if (first !== undefined) rows.readFirst.push(first === seen ? placed : placedRow(first));
  }
  for (const seen of closings.earlier()) rows.closings.push(placedRow(seen));
  for (const { address, hour, slot } of closings.firsts())
    rows.streamed.push({ ...(places.get(address) as Place), hour, slot });
  return rows;
}

function placedRow({ record, version, reading, seenAt, opens }: Seen): PlacedRow {
  const row: LatestRow = firstColumns(record, version, reading !== 'missing');
  const hour = hourOf(seenAt);
  if (reading !== 'missing')
    return { table: reading.table, row: Object.assign(row, reading.columns()), opens, hour };
  const { expected } = record;
  return {
    table: expected === null || expected === 'program' ? '' : EXPECTED_TABLES[expected],
    row,
    opens,
    hour,
  };
}

function unseenRow(known: Seen, found: Seen): UnseenRow {
  return {
    address: encodeBase58(found.record.address),
    after_slot: (known.version >> 64n).toString(),
    to_slot: found.record.slot.toString(),
  };
}

function isReadAgain(known: AccountRecord, record: AccountRecord): boolean {
  return (
    record.source === 'rpc' &&
    (known.lamports === 0n) === (record.lamports === 0n) &&
    Buffer.compare(known.owner, record.owner) === 0 &&
    Buffer.compare(known.data, record.data) === 0
  );
}

function push(tables: Map<LatestTable, LatestRow[]>, table: LatestTable, row: LatestRow): void {
  const rows = tables.get(table);
  if (rows === undefined) tables.set(table, [row]);
  else rows.push(row);
}

function firstColumns(record: AccountRecord, version: bigint, exists: boolean): StateRow {
  return {
    address: encodeBase58(record.address),
    slot: record.slot.toString(),
    version: version.toString(),
    block_time: record.blockTime,
    source: record.source,
    exists: exists ? 1 : 0,
  };
}

function deadAccount(record: AccountRecord, error: MalformedError): DeadLetterRecord {
  return {
    kind: 'dead-letter',
    source: record.source,
    what: `account:${error.what}`,
    where: encodeBase58(record.address),
    reason: error.message,
    slot: record.slot,
    // What stands where a stranger says is nothing to keep.
    bytes: record.expected === 'metadata' || record.expected === 'mint' ? new Uint8Array(0) : record.data,
  };
}
