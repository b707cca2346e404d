import { Counter, type Registry } from 'prom-client';
import type { LogRecord } from '../../schemas/records.ts';
import type { LogWriter } from '../log/port.ts';

/** Counts the readings that go into a log. */
export function countingReadings(log: LogWriter, registry: Registry): LogWriter {
  const readings = new Counter({
    name: 'poll_readings_total',
    help: 'Readings of venues, catalogue, prices, programs and documents that the log has.',
    labelNames: ['type', 'result'],
    registers: [registry],
  });
  return {
    ...log,
    append: async (records) => {
      await log.append(records);
      for (const record of records) {
        const type = record.kind === 'reading' ? record.reading.type : record.kind;
        readings.inc({ type, result: failed(record) ? 'failed' : 'good' });
      }
    },
  };
}

function failed(record: LogRecord): boolean {
  if (record.kind !== 'reading') return true;
  return 'error' in record.reading && record.reading.error !== null;
}
