import type { LogRecord } from '../../schemas/records.ts';

/** What a record's own objects and keys weigh beside its bytes. */
const OVERHEAD = 256;

/** Bytes that a record holds in memory, about. */
export function recordBytes(record: LogRecord): number {
  if (record.kind === 'account') return record.data.length + OVERHEAD;
  if (record.kind === 'transaction') return record.payload.length + OVERHEAD;
  if (record.kind === 'recompute') return record.mints.length * 50 + record.slots.length * 16 + OVERHEAD;
  if (record.kind === 'verified')
    return record.struck.reduce((sum, { events }) => sum + 200 + events.length * 200, OVERHEAD);
  if (record.kind === 'part') return record.bytes.length + OVERHEAD;
  if (record.kind === 'dead-letter') return record.bytes.length + OVERHEAD;
  return OVERHEAD;
}
