import type { LogWriter } from '../../../../ingest/log/port.ts';
import type { PollOptions } from '../../../../ingest/poll/round.ts';
import { readConfig } from '../../../../runtime/config/config.ts';
import { createLogger } from '../../../../runtime/process/log.ts';
import { createRpc } from '../../../../runtime/rpc/rpc.ts';
import type { Reading } from '../../../../schemas/readings.ts';
import type { DeadLetterRecord, LogRecord } from '../../../../schemas/records.ts';

/** A log that remembers what was appended. */
export interface CapturedLog extends LogWriter {
  records: LogRecord[];
  readings(): Reading[];
  letters(): DeadLetterRecord[];
}

export function captureLog(onAppend: () => void = () => {}): CapturedLog {
  const records: LogRecord[] = [];
  return {
    records,
    readings: () => records.flatMap((record) => (record.kind === 'reading' ? [record.reading] : [])),
    letters: () => records.filter((record) => record.kind === 'dead-letter'),
    append: async (some) => {
      records.push(...some);
      onAppend();
    },
    close: async () => {},
  };
}

/** What a poller is given; the parts that a test does not name are never asked. */
export function pollOptions(env: Record<string, string>, more: Partial<PollOptions>): PollOptions {
  const unasked = () => {
    throw new Error('not part of this test');
  };
  return {
    config: readConfig(env),
    store: {
      ...{ query: unasked, lines: unasked, insert: unasked, command: unasked },
      ...{ database: 'none', close: async () => {} },
    },
    log: captureLog(),
    rpc: createRpc('http://127.0.0.1:1', { commitment: 'confirmed' }),
    logger: createLogger('silent', 'test'),
    signal: new AbortController().signal,
    onAnswer: () => {},
    ...more,
  };
}
