import { createMemoryLog } from '../../../ingest/log/in-process.ts';
import type { LogReader, LogWriter } from '../../../ingest/log/port.ts';
import type { LogRecord } from '../../../schemas/records.ts';

/** A log in this process that also puts what is appended into `records`. */
export function watchedLog(records: LogRecord[]): LogWriter & LogReader {
  const log = createMemoryLog({ startOffsets: {} });
  return {
    ...log,
    append: (some) => {
      records.push(...some);
      return log.append(some);
    },
  };
}
