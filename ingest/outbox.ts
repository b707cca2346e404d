import type { Logger } from '../runtime/log.ts';
import type { LogRecord } from '../schemas/records.ts';
import type { LogWriter } from './log/port.ts';
import { untilDone } from './retry.ts';

export interface Outbox {
  /** Resolves once the log has the records and all before them. */
  put(records: readonly LogRecord[]): Promise<void>;
  /** More waits than may: hold the stream back. */
  full(): boolean;
  /** Whether the stream is being held back. */
  draining(): boolean;
  drained(): Promise<void>;
}

const MOST_WAITING = 20_000;

/** Sends records to the log in the order they were put, one append after the other, until each is acknowledged. */
export function createOutbox(log: LogWriter, options: { logger: Logger; signal: AbortSignal }): Outbox {
  let chain: Promise<void> = Promise.resolve();
  let waiting = 0;
  let held = false;
  return {
    put: (records) => {
      if (records.length === 0) return chain;
      waiting += records.length;
      chain = chain.then(async () => {
        await untilDone('appending to the log', () => log.append(records), options);
        waiting -= records.length;
      });
      return chain;
    },
    full: () => waiting > MOST_WAITING,
    draining: () => held,
    drained: async () => {
      held = true;
      const end = chain;
      await end;
      held = false;
    },
  };
}
