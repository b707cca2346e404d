import type { Logger } from '../../runtime/process/log.ts';
import { retryUntilDone } from '../../runtime/retry.ts';
import type { LogRecord } from '../../schemas/records.ts';
import type { LogWriter } from '../log/port.ts';
import { recordBytes } from '../log/size.ts';

export interface Outbox {
  /** Resolves once the log has the records and all before them; never where the process stops first. */
  put(records: readonly LogRecord[]): Promise<void>;
  /** Whether more waits than is allowed, so that the stream has to be held back. */
  full(): boolean;
  /** Resolves at once unless full, else once half of the limits is free again. */
  roomy(): Promise<void>;
  /** Resolves once nothing waits, or the signal was given and nothing more goes out. */
  drained(): Promise<void>;
}

const MOST_WAITING = 20_000;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_AT_ONCE = 5_000;

interface Parcel {
  records: readonly LogRecord[];
  bytes: number;
  sent(): void;
}

/**
 * Sends records to the log in the order they were put. One append is under way at a time, each is tried until it is
 * acknowledged, and what was put meanwhile goes together in the next.
 */
export function createOutbox(log: LogWriter, options: { logger: Logger; signal: AbortSignal }): Outbox {
  const waiting: Parcel[] = [];
  let records = 0;
  let bytes = 0;
  let running = false;
  let idle: (() => void)[] = [];
  let room: (() => void)[] = [];

  const full = () => records > MOST_WAITING || bytes > MOST_BYTES;

  const send = async () => {
    while (waiting.length > 0 && !options.signal.aborted) {
      const parcels = nextBatch(waiting);
      const all = parcels.flatMap((parcel) => parcel.records);
      const done = await retryUntilDone(
        'appending to the log',
        async () => {
          await log.append(all);
          return true;
        },
        options,
      );
      // Stopping: what was not sent is streamed again from the last marker.
      if (done === null) return;
      waiting.splice(0, parcels.length);
      for (const parcel of parcels) {
        records -= parcel.records.length;
        bytes -= parcel.bytes;
        parcel.sent();
      }
      if (records * 2 > MOST_WAITING || bytes * 2 > MOST_BYTES) continue;
      const woken = room;
      room = [];
      for (const wake of woken) wake();
    }
  };

  const run = async () => {
    running = true;
    await send();
    running = false;
    const woken = idle;
    idle = [];
    for (const wake of woken) wake();
  };

  return {
    full,
    put: (added) =>
      new Promise((resolve) => {
        const size = added.reduce((sum, record) => sum + recordBytes(record), 0);
        waiting.push({ records: added, bytes: size, sent: resolve });
        records += added.length;
        bytes += size;
        if (!running) void run();
      }),
    roomy: () => (full() ? new Promise((resolve) => room.push(resolve)) : Promise.resolve()),
    drained: () => (running ? new Promise((resolve) => idle.push(resolve)) : Promise.resolve()),
  };
}

function nextBatch(waiting: readonly Parcel[]): Parcel[] {
  let count = 0;
  const end = waiting.findIndex(({ records }) => {
    count += records.length;
    return count > MOST_AT_ONCE;
  });
  return waiting.slice(0, end === -1 ? waiting.length : Math.max(1, end));
}
