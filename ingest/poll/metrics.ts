import { Counter, type Registry } from 'prom-client';
import type { LogRecord } from '../../schemas/records.ts';
import type { LogWriter } from '../log/port.ts';
import type { PollOptions } from './round.ts';

/** Counts what is read, for Prometheus: gives the log that readings go to, and the callback for answers. */
export function pollMetrics(log: LogWriter, registry: Registry): Pick<PollOptions, 'log' | 'onAnswer'> {
  const readings = new Counter({
    name: 'poll_readings_total',
    help: 'Readings of venues, catalogue, prices, programs and documents that the log has.',
    labelNames: ['type', 'result'],
    registers: [registry],
  });
  const answers = new Counter({
    name: 'poll_answers_total',
    help: 'Questions to each outside source, by whether they were answered well; documents, which are anybody’s, are none.',
    labelNames: ['source', 'result'],
    registers: [registry],
  });
  const resultOf = (isGood: boolean) => (isGood ? 'good' : 'failed');
  const onAnswer = (source: string, isGood: boolean) => answers.inc({ source, result: resultOf(isGood) });
  return {
    onAnswer,
    log: {
      ...log,
      append: async (records) => {
        await log.append(records);
        for (const record of records) {
          const type = record.kind === 'reading' ? record.reading.type : record.kind;
          readings.inc({ type, result: resultOf(!failed(record)) });
          const source = askedWhole(record);
          if (source !== null) onAnswer(source, !failed(record));
        }
      },
    },
  };
}

function failed(record: LogRecord): boolean {
  if (record.kind !== 'reading') return true;
  return 'error' in record.reading && record.reading.error !== null;
}

/** The source of which a reading says whether it answers at all; null where it says that of none. */
function askedWhole(record: LogRecord): string | null {
  if (record.kind !== 'reading') return null;
  const { reading } = record;
  if (reading.type === 'venue_status') return `${reading.venue} venue`;
  return reading.type === 'program_status' ? 'programs' : null;
}
