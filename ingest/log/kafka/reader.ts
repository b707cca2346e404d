import { ConfigError, messageOf } from '../../../runtime/errors.ts';
import { aborted, pause } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { backoffMs, retryUntilDone } from '../../../runtime/retry.ts';
import type { DeadLetterRecord } from '../../../schemas/records.ts';
import { OffsetGapError } from '../offset-gap.ts';
import {
  type LogBatch,
  type LogEntry,
  type LogReader,
  MAX_BATCH_ENTRIES,
  TOPICS,
  type Topic,
} from '../port.ts';
import { decodeRecord, UnreadableRecordError } from '../record-codec.ts';
import { type BatchSize, createBatchSize } from './batch-size.ts';
import type { ConsumeOptions, KafkaClient, WireBatch, WireConsumer } from './cluster.ts';
import { findForeignRecord, mixedLogError } from './log-program.ts';
import { type Assembly, createAssembly } from './record-parts.ts';
import { assignmentByTopic, topicName, topicOf } from './topics.ts';

export interface KafkaReaderOptions {
  prefix: string;
  /** Readers of one group share the partitions. */
  group: string;
  logger: Logger;
  /** How many partitions of each topic the database is filled from: a reader that is assigned one beyond them ends. */
  declared?: Readonly<Partial<Record<Topic, number>>>;
  /** Called with the partitions that this reader was assigned, by the cluster's names of the topics. */
  onAssigned?: (assignment: ReadonlyMap<string, readonly number[]>) => void;
  /** Called with the reason when a consumer failed: the reader has no partitions until it is assigned some again. */
  onEnded?: (error: Error) => void;
}

type Apply = (batch: LogBatch) => Promise<void>;

const HEARTBEAT_MS = 2_000;
const REWIND_AFTER_MS = 500;
/** A consumer that ends sooner counts as refused, as the next one will be too: the pause before that one grows. */
const STEADY_MS = 60_000;

/**
 * Reads the log as a member of a consumer group. An offset is committed only after its batch was applied. It ends with a
 * ConfigError at a partition that was added, and at a batch with a record of another program, which is not applied.
 */
export function createKafkaReader(client: KafkaClient, options: KafkaReaderOptions): LogReader {
  const { prefix, group, logger } = options;
  return {
    run: async (apply, stop) => {
      const refused = new AbortController();
      const signal = AbortSignal.any([stop, refused.signal]);
      const assembly = createAssembly();
      const size = createBatchSize(MAX_BATCH_ENTRIES);
      /** Counts assignments and their ends: a batch that came at an older count is no longer this reader's. */
      let generation = 0;
      const consume = (how: ConsumeOptions): Promise<WireConsumer> =>
        client.consume(how).catch((error) => {
          options.onEnded?.(error);
          throw error;
        });
      /** How many consumers in a row have ended soon. */
      let ends = 0;
      while (!signal.aborted) {
        const crash = Promise.withResolvers<void>();
        const consumer = await retryUntilDone<WireConsumer>(
          'joining the group',
          () =>
            consume({
              group,
              topics: TOPICS.map((topic) => topicName(prefix, topic)),
              onBatch: async (batch) => {
                const then = generation;
                const foreign = findForeignRecord(client, prefix, batch);
                if (foreign !== null) return refused.abort(mixedLogError(prefix, foreign));
                return applyBatch(
                  batch,
                  apply,
                  { prefix, logger, assembly, size, assignment: then },
                  () => then === generation && batch.running(),
                  signal,
                );
              },
              onAssigned: (assignment) => {
                generation += 1;
                // Right here: nothing of an added partition may be applied.
                const error = undeclared(assignmentByTopic(prefix, assignment), options.declared ?? {});
                if (error !== null) refused.abort(error);
                // Each partition is read on from its committed offset: no later than the first part of any record
                // that is not whole.
                assembly.forget();
                options.onAssigned?.(assignment);
              },
              onRevoked: () => {
                generation += 1;
              },
              onCrash: (error) => {
                logger.error({ error: messageOf(error) }, 'the consumer ended; starting another');
                options.onEnded?.(error);
                crash.resolve();
              },
            }),
          { signal, logger },
        );
        const since = performance.now();
        await Promise.race([aborted(signal), crash.promise]);
        ends = performance.now() - since < STEADY_MS ? ends + 1 : 0;
        await consumer
          ?.stop()
          .catch((error) => logger.warn({ error: messageOf(error) }, 'the consumer did not stop'));
        await pause(backoffMs(ends), signal);
      }
      refused.signal.throwIfAborted();
    },
  };
}

/** The error where a partition was added: keys have moved, and a fact that comes again would count in two. */
function undeclared(
  own: ReadonlyMap<Topic, readonly number[]>,
  declared: NonNullable<KafkaReaderOptions['declared']>,
): ConfigError | null {
  for (const [topic, partitions] of own) {
    const count = declared[topic];
    const other = count === undefined ? undefined : partitions.find((partition) => partition >= count);
    if (other !== undefined)
      return new ConfigError(
        `the log's topic of ${topic} has a partition ${other} by now, and the database is filled from ${count}: nothing of it is applied. Begin a log with that many under another KAFKA_TOPIC_PREFIX, with an empty database`,
      );
  }
  return null;
}

export type ApplyOptions = Pick<KafkaReaderOptions, 'prefix' | 'logger'> & {
  assembly: Assembly;
  size: BatchSize;
  assignment?: number;
};

/** Applies a batch's messages some at a time, and commits after each time, while `owned` says the partition is ours. */
export async function applyBatch(
  batch: WireBatch,
  apply: Apply,
  { prefix, logger, assembly, size, assignment }: ApplyOptions,
  owned: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const topic = topicOf(prefix, batch.topic);
  if (topic === null) return;
  const { partition } = batch;
  const heart = beat(batch);
  try {
    for (let start = 0; start < batch.messages.length && !signal.aborted; ) {
      const tried = size.now();
      const messages = batch.messages.slice(start, start + tried);
      start += messages.length;
      const entries = messages
        .map(({ offset, value, writtenAt: at }) => ({
          ...entryOf(topic, partition, offset, value),
          writtenAt: at,
        }))
        .flatMap((entry) => assembly.take(`${topic}/${partition}`, entry));
      const writtenAt = messages.reduce((newest, message) => Math.max(newest, message.writtenAt), 0);
      const isOwned = () => owned() && heart.failure() === null;
      const read = { topic, partition, entries, writtenAt, owned: isOwned };
      const place = assignment === undefined ? read : { ...read, assignment };
      if (!(await applyUntilDone(place, apply, batch.rewind, logger, signal))) {
        if (!isOwned() && !signal.aborted) size.lost(tried);
        break;
      }
      size.applied();
      const last = (entries.at(-1) as LogEntry).offset;
      assembly.applied(`${topic}/${partition}`);
      await batch.commit(assembly.pendingFrom(`${topic}/${partition}`) ?? last + 1n);
      batch.advancePast(last);
    }
  } finally {
    heart.stop();
  }
  // kafkajs has to see the failed heartbeat, or it does not join the group again.
  if (heart.failure() !== null) throw heart.failure();
}

/** False where the partition was lost or rewound, or the process stops before the batch is applied. */
async function applyUntilDone(
  batch: LogBatch,
  apply: Apply,
  rewind: (offset: bigint) => void,
  logger: Logger,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 0; batch.owned(); attempt += 1) {
    try {
      await apply(batch);
      return batch.owned();
    } catch (error) {
      const { topic, partition } = batch;
      if (error instanceof OffsetGapError) {
        logger.error(
          { error: error.message },
          'the database has less than its group has read; reading that again',
        );
        // After a pause: where retention has deleted the missing records, this error comes again and again.
        await pause(REWIND_AFTER_MS, signal);
        rewind(error.next);
        return false;
      }
      logger.warn(
        { topic, partition, attempt, error: messageOf(error) },
        'a batch was not applied; trying again',
      );
      if (signal.aborted) return false;
      await pause(backoffMs(attempt), signal);
    }
  }
  return false;
}

/** Sends heartbeats while a batch is applied, so that this member stays in its group. */
function beat(batch: WireBatch) {
  let failure: unknown = null;
  const timer = setInterval(() => {
    batch.heartbeat().catch((error) => {
      failure = error;
    });
  }, HEARTBEAT_MS);
  return { failure: () => failure, stop: () => clearInterval(timer) };
}

/** Bytes that are no record become a dead letter in their place, or the records behind them would wait for ever. */
export function entryOf(topic: Topic, partition: number, offset: bigint, value: Uint8Array): LogEntry {
  try {
    return { offset, record: decodeRecord(value) };
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    const record: DeadLetterRecord = {
      kind: 'dead-letter',
      source: 'stream',
      what: 'log-record',
      where: `${topic}/${partition}/${offset}`,
      reason: error.message,
      slot: null,
      bytes: value,
    };
    return { offset, record };
  }
}
