import { RetryableError } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { LogRecord } from '../../schemas/records.ts';
import { createLinger } from './linger.ts';
import { OffsetGapError } from './offset-gap.ts';
import {
  type LogBatch,
  type LogEntry,
  type LogReader,
  type LogWriter,
  MAX_BATCH_ENTRIES,
  TOPICS,
  type Topic,
} from './port.ts';
import { recordBytes } from './size.ts';
import { TOPICS_OF } from './topics.ts';

export interface MemoryLogOptions {
  /** The offset of each topic's next record; a topic not named starts at 0. */
  startOffsets: Partial<Record<Topic, bigint>>;
  /** Bytes that may wait unread; `append` waits above it. */
  maxBytes?: number;
  /** The most records of a batch; it ends earlier behind the last marker among them, or where no more records wait. */
  maxBatch?: number;
  /** Called with the error of a failed batch, before the batch is handed out again. */
  onFailure?: (error: unknown) => void;
  /** False once nothing read from this log may be written to the database any more. */
  owned?: () => boolean;
  /** For how many milliseconds records behind a batch are gathered before the next one; asked with each batch. */
  lingerMs?: () => number;
}

export type MemoryLog = LogWriter &
  LogReader & {
    waitingBytes(): number;
    /** The offset that the next record of a topic gets. */
    end(topic: Topic): bigint;
    /** Ends the gathering at once: a client waits for the records. */
    handOutNow(): void;
  };

/** Where this many entries wait, a batch is handed out without gathering more. */
const ENOUGH = 1_000;

interface Queue {
  topic: Topic;
  next: bigint;
  entries: LogEntry[];
  wake: (() => void) | null;
  /** Appends that wait until the entry at `offset` is applied. */
  owed: { offset: bigint; resolve: () => void }[];
}

/**
 * Kinds that neither stream nor history brings again: each is appended once, right before a record after which nobody
 * looks for it any more.
 */
const TOLD_ONCE = new Set<LogRecord['kind']>(['unseen']);

/**
 * The log inside one process: one partition a topic, bounded, and nothing of it outlives the process. What was not
 * materialised is streamed again from the stored position. An append with records that would not come again (TOLD_ONCE)
 * resolves only once they are applied, or the log has ended.
 */
export function createMemoryLog(options: MemoryLogOptions): MemoryLog {
  const { maxBytes = 128 * 1024 * 1024, maxBatch = MAX_BATCH_ENTRIES, owned = () => true } = options;
  let waiting = 0;
  let isAtEnd = false;
  let room: (() => void)[] = [];
  const linger = createLinger(options.lingerMs ?? (() => 0));
  const queues = new Map<Topic, Queue>(
    TOPICS.map((topic) => [
      topic,
      { topic, next: options.startOffsets[topic] ?? 0n, entries: [], wake: null, owed: [] },
    ]),
  );

  const push = (record: LogRecord) => {
    for (const topic of TOPICS_OF[record.kind]) {
      const queue = queues.get(topic) as Queue;
      queue.entries.push({ offset: queue.next, record });
      queue.next += 1n;
      queue.wake?.();
    }
    waiting += recordBytes(record) * TOPICS_OF[record.kind].length;
  };

  const applied = (entries: readonly LogEntry[]) => {
    for (const { record } of entries) waiting -= recordBytes(record);
    if (waiting > maxBytes) return;
    const woken = room;
    room = [];
    for (const wake of woken) wake();
  };

  async function consume(
    queue: Queue,
    apply: (batch: LogBatch) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      if (queue.entries.length === 0) {
        await new Promise<void>((resolve) => {
          queue.wake = resolve;
        });
        queue.wake = null;
        continue;
      }
      if (queue.entries.length < ENOUGH) await linger.due();
      if (signal.aborted) break;
      linger.taken();
      // A batch that is being written when the signal comes is finished: no other reader takes over the partition.
      const entries = queue.entries.slice(0, batchLength(queue.entries, maxBatch));
      try {
        await apply({ topic: queue.topic, partition: 0, entries, owned: untilLost(owned) });
      } catch (error) {
        if (error instanceof OffsetGapError) throw restartWanted(error);
        options.onFailure?.(error);
        await pause(backoffMs(failures), signal);
        failures += 1;
        continue;
      }
      failures = 0;
      queue.entries.splice(0, entries.length);
      applied(entries);
      settle(queue, (entries.at(-1) as LogEntry).offset);
    }
  }

  const settle = (queue: Queue, upTo: bigint) => {
    for (const { resolve } of queue.owed.filter(({ offset }) => offset <= upTo)) resolve();
    queue.owed = queue.owed.filter(({ offset }) => offset > upTo);
  };

  /** Resolves once the TOLD_ONCE records among these are applied, or the log is no longer read. */
  const whenApplied = async (records: readonly LogRecord[]) => {
    const once = records.filter(({ kind }) => TOLD_ONCE.has(kind));
    if (isAtEnd || once.length === 0) return;
    const topics = new Set(once.flatMap(({ kind }) => TOPICS_OF[kind]));
    await Promise.all(
      [...topics].map((topic) => {
        const queue = queues.get(topic) as Queue;
        return new Promise<void>((resolve) => queue.owed.push({ offset: queue.next - 1n, resolve }));
      }),
    );
  };

  return {
    waitingBytes: () => waiting,
    end: (topic) => (queues.get(topic) as Queue).next,
    handOutNow: linger.handOutNow,
    append: async (records) => {
      while (waiting > maxBytes && !isAtEnd) await new Promise<void>((resolve) => room.push(resolve));
      for (const record of records) push(record);
      await whenApplied(records);
    },
    close: async () => {},
    run: async (apply, signal) => {
      const wakeAll = () => {
        linger.handOutNow();
        for (const queue of queues.values()) queue.wake?.();
      };
      signal.addEventListener('abort', wakeAll, { once: true });
      try {
        await Promise.all([...queues.values()].map((queue) => consume(queue, apply, signal)));
      } finally {
        isAtEnd = true;
        for (const queue of queues.values()) settle(queue, queue.next);
        for (const wake of room.splice(0)) wake();
      }
    },
  };
}

/** The next batch ends at the last marker inside the limit, so that a slot shows at once; without one, at the limit. */
function batchLength(entries: readonly LogEntry[], maxBatch: number): number {
  const limit = Math.min(entries.length, maxBatch);
  for (let length = limit; length > 0; length -= 1) {
    if (entries[length - 1]?.record.kind === 'marker') return length;
  }
  return limit;
}

/** `owned` for one try of a batch: once false it stays false, for only the next try writes rows left out meanwhile. */
function untilLost(owned: () => boolean): () => boolean {
  let isLost = false;
  return () => {
    isLost ||= !owned();
    return !isLost;
  };
}

/** This process has handed out the missing entries already and keeps them nowhere: only a restart brings them again. */
const restartWanted = ({ message }: OffsetGapError): Error =>
  new RetryableError(
    `the database lacks rows that this process wrote (was it restored?): ${message}; restart, and the stream continues from where the database is`,
  );
