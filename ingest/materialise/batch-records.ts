import type {
  AccountRecord,
  CarriedRecord,
  DeadLetterRecord,
  GapRecord,
  LogRecord,
  MarkerRecord,
  ProfitRecord,
  RecomputeRecord,
  TimeRecord,
  TransactionRecord,
  UnseenRecord,
  VerifiedRecord,
} from '../../schemas/records.ts';
import type { LogBatch, LogEntry } from '../log/port.ts';
import { hasNoSourceRecord } from './letters/dead-letters.ts';
import { readingRow } from './rows/reading.ts';

/** The records of a batch, by kind. */
export type BatchRecords = {
  accounts: AccountRecord[];
  transactions: TransactionRecord[];
  markers: MarkerRecord[];
  gaps: { offset: bigint; gap: GapRecord }[];
  readings: ReturnType<typeof readingRow>[];
  recomputes: RecomputeRecord[];
  profits: ProfitRecord[];
  times: TimeRecord[];
  carried: CarriedRecord[];
  unseen: UnseenRecord[];
  verified: { offset: bigint; record: VerifiedRecord }[];
  deadLetters: DeadLetterRecord[];
  /** When dead letters that have no source record in the log were appended to it, in unix milliseconds. */
  toldAt: Map<DeadLetterRecord, number>;
};

type Taker<R> = (records: BatchRecords, record: R, entry: LogEntry, batch: LogBatch) => void;

/** Puts a record of each kind into its list. */
const TAKEN: { [K in LogRecord['kind']]: Taker<Extract<LogRecord, { kind: K }>> } = {
  account: ({ accounts }, record) => accounts.push(record),
  transaction: ({ transactions }, record) => transactions.push(record),
  marker: ({ markers }, record) => markers.push(record),
  gap: ({ gaps }, gap, { offset }) => gaps.push({ offset, gap }),
  reading: ({ readings }, record) => readings.push(readingRow(record)),
  recompute: ({ recomputes }, record) => recomputes.push(record),
  profit: ({ profits }, record) => profits.push(record),
  time: ({ times }, record) => times.push(record),
  carried: ({ carried }, record) => carried.push(record),
  unseen: ({ unseen }, record) => unseen.push(record),
  verified: ({ verified }, record, { offset }) => verified.push({ offset, record }),
  // The reader of the log puts the whole record together.
  part: () => {},
  'dead-letter': ({ deadLetters, toldAt }, record, { offset, writtenAt }, batch) => {
    if (batch.topic === 'dead-letters' && hasNoSourceRecord(record)) {
      deadLetters.push(record);
      if (writtenAt !== undefined) toldAt.set(record, writtenAt);
    }
    // Other letters of that topic are left out: they were kept with the batch in which they were found, and the decoder
    // may have been mended since.
    else if (batch.topic !== 'dead-letters' || isOwn(batch, offset, record)) deadLetters.push(record);
  },
};

export function recordsByKind(batch: LogBatch): BatchRecords {
  const records: BatchRecords = {
    ...{ accounts: [], transactions: [], markers: [], gaps: [] },
    ...{
      readings: [],
      recomputes: [],
      profits: [],
      times: [],
      carried: [],
      unseen: [],
      verified: [],
      deadLetters: [],
      toldAt: new Map(),
    },
  };
  for (const entry of batch.entries) {
    // The kind picks the taker of its own type, which the compiler cannot follow through the map.
    const take = TAKEN[entry.record.kind] as Taker<LogRecord>;
    take(records, entry.record, entry, batch);
  }
  return records;
}

/** Whether a letter is about the very message that it came from. */
function isOwn({ topic, partition }: LogBatch, offset: bigint, { where }: DeadLetterRecord): boolean {
  return where === `${topic}/${partition}/${offset}`;
}

export function readingsByTable(rows: readonly ReturnType<typeof readingRow>[]): Map<string, object[]> {
  const tables = new Map<string, object[]>();
  for (const { table, row } of rows) tables.set(table, [...(tables.get(table) ?? []), row]);
  return tables;
}
