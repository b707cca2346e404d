import type {
  AccountRecord,
  DeadLetterRecord,
  GapRecord,
  MarkerRecord,
  ProfitRecord,
  RecomputeRecord,
  TransactionRecord,
  VerifiedRecord,
} from '../../schemas/records.ts';
import type { LogBatch } from '../log/port.ts';
import { hasNoSourceRecord } from './dead-letters.ts';
import { readingRow } from './rows/reading.ts';

/** The records of a batch, by what they are. */
export type Parts = {
  accounts: AccountRecord[];
  transactions: TransactionRecord[];
  markers: MarkerRecord[];
  gaps: { offset: bigint; gap: GapRecord }[];
  readings: ReturnType<typeof readingRow>[];
  recomputes: RecomputeRecord[];
  profits: ProfitRecord[];
  verified: { offset: bigint; record: VerifiedRecord }[];
  deadLetters: DeadLetterRecord[];
};

export function sort(batch: LogBatch): Parts {
  const parts: Parts = {
    ...{ accounts: [], transactions: [], markers: [], gaps: [] },
    ...{ readings: [], recomputes: [], profits: [], verified: [], deadLetters: [] },
  };
  for (const { offset, record } of batch.entries) {
    if (record.kind === 'account') parts.accounts.push(record);
    else if (record.kind === 'transaction') parts.transactions.push(record);
    else if (record.kind === 'marker') parts.markers.push(record);
    else if (record.kind === 'gap') parts.gaps.push({ offset, gap: record });
    else if (record.kind === 'reading') parts.readings.push(readingRow(record));
    else if (record.kind === 'recompute') parts.recomputes.push(record);
    else if (record.kind === 'profit') parts.profits.push(record);
    else if (record.kind === 'verified') parts.verified.push({ offset, record });
    else if (record.kind !== 'dead-letter') continue;
    // Others in that topic were kept where they were found, by a decoder that may have been mended since.
    else if (batch.topic !== 'dead-letters' || hasNoSourceRecord(record) || isOwn(batch, offset, record))
      parts.deadLetters.push(record);
  }
  return parts;
}

/** Whether a letter is about the very message that it came from. */
function isOwn({ topic, partition }: LogBatch, offset: bigint, { where }: DeadLetterRecord): boolean {
  return where === `${topic}/${partition}/${offset}`;
}

export function readings(rows: readonly ReturnType<typeof readingRow>[]): Map<string, object[]> {
  const tables = new Map<string, object[]>();
  for (const { table, row } of rows) tables.set(table, [...(tables.get(table) ?? []), row]);
  return tables;
}
