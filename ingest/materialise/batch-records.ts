import type {
  AccountRecord,
  CarriedRecord,
  DeadLetterRecord,
  GapRecord,
  MarkerRecord,
  ProfitRecord,
  RecomputeRecord,
  TimeRecord,
  TransactionRecord,
  UnseenRecord,
  VerifiedRecord,
} from '../../schemas/records.ts';
import type { LogBatch } from '../log/port.ts';
import { hasNoSourceRecord } from './letters/dead-letters.ts';
import { readingRow } from './rows/reading.ts';

/** The records of a batch, by what they are. */
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
  /** When the log was given those of its letters that nothing else in it tells of, in unix milliseconds. */
  toldAt: Map<DeadLetterRecord, number>;
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
  for (const { offset, record, writtenAt } of batch.entries) {
    if (record.kind === 'account') records.accounts.push(record);
    else if (record.kind === 'transaction') records.transactions.push(record);
    else if (record.kind === 'marker') records.markers.push(record);
    else if (record.kind === 'gap') records.gaps.push({ offset, gap: record });
    else if (record.kind === 'reading') records.readings.push(readingRow(record));
    else if (record.kind === 'recompute') records.recomputes.push(record);
    else if (record.kind === 'profit') records.profits.push(record);
    else if (record.kind === 'time') records.times.push(record);
    else if (record.kind === 'carried') records.carried.push(record);
    else if (record.kind === 'unseen') records.unseen.push(record);
    else if (record.kind === 'verified') records.verified.push({ offset, record });
    else if (record.kind !== 'dead-letter') continue;
    else if (batch.topic === 'dead-letters' && hasNoSourceRecord(record)) {
      records.deadLetters.push(record);
      if (writtenAt !== undefined) records.toldAt.set(record, writtenAt);
    }
    // Others in that topic were kept where they were found, by a decoder that may have been mended since.
    else if (batch.topic !== 'dead-letters' || isOwn(batch, offset, record)) records.deadLetters.push(record);
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
