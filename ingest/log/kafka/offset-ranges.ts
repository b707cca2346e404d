import { randomUUID } from 'node:crypto';
import { aborted } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { type LogBatch, MAX_BATCH_ENTRIES, TOPICS, type Topic } from '../port.ts';
import { createBatchSize } from './batch-size.ts';
import type { KafkaClient, WireBatch } from './cluster.ts';
import { applyBatch } from './reader.ts';
import { createAssembly, DEFAULT_LIMITS } from './record-parts.ts';
import { topicName } from './topics.ts';

/** Consecutive offsets of a partition: `from` is the first, `to` the one behind the last. */
export interface Range {
  topic: Topic;
  partition: number;
  from: bigint;
  to: bigint;
}

export interface RangesOptions {
  prefix: string;
  ranges: readonly Range[];
  logger: Logger;
  signal: AbortSignal;
  /** Called with how many records of all ranges are done. */
  onProgress?: (done: number) => void;
}

/** The offsets that a log holds, by topic and partition. */
export async function logRanges(
  client: KafkaClient,
  prefix: string,
  topics: readonly Topic[] = TOPICS,
): Promise<Range[]> {
  const all: Range[] = [];
  for (const topic of topics) {
    for (const { partition, low, high } of await client.offsets(topicName(prefix, topic)))
      all.push({ topic, partition, from: low, to: high });
  }
  return all;
}

/** How many offsets the first part of a record may stand before the last, at which the record is whole. */
const PARTS_WITHIN = 1_000n;

/** A range that begins early enough for the first parts of its first records. @param low the log's first offset */
export function withParts(range: Range, low: bigint): Range {
  const from = range.from - PARTS_WITHIN;
  return { ...range, from: from < low ? low : from };
}

export const recordsIn = (ranges: readonly Range[]): number =>
  ranges.reduce((sum, { from, to }) => sum + Number(to - from), 0);

/**
 * Reads some ranges of the log once, in a group of its own beside other readers: batches of different partitions at
 * once, those of one in order. A batch that fails is handed out again. Resolves when all are applied or the signal was
 * given.
 * @throws Error where the consumer ends by itself.
 */
export async function readRanges(
  client: KafkaClient,
  { prefix, ranges, logger, signal, onProgress }: RangesOptions,
  apply: (batch: LogBatch) => Promise<void>,
): Promise<void> {
  const wanted = new Map<string, Range & { at: bigint }>();
  for (const range of ranges) {
    const { topic, partition, from, to } = range;
    if (from < to) wanted.set(`${topicName(prefix, topic)}/${partition}`, { ...range, at: from });
  }
  if (wanted.size === 0) return;
  const open = new Set(wanted.keys());
  const ended = Promise.withResolvers<void>();
  // It may reject before anything awaits it, which must not count as an unhandled rejection.
  ended.promise.catch(() => {});
  const assembly = createAssembly({ ...DEFAULT_LIMITS, beginsAnywhere: true });
  const size = createBatchSize(MAX_BATCH_ENTRIES);
  const group = `${prefix}-replay-${randomUUID()}`;

  const onBatch = async (batch: WireBatch) => {
    const key = `${batch.topic}/${batch.partition}`;
    const range = wanted.get(key);
    const messages = batch.messages.filter(
      ({ offset }) => range !== undefined && offset >= range.at && offset < range.to,
    );
    const owned = () => batch.running() && !signal.aborted;
    if (range !== undefined && messages.length > 0) {
      const advance = async (part: LogBatch) => {
        await apply(part);
        range.at = (part.entries.at(-1)?.offset ?? range.at) + 1n;
        onProgress?.(recordsIn([...wanted.values()].map(({ at, ...rest }) => ({ ...rest, to: at }))));
      };
      await applyBatch({ ...batch, messages }, advance, { prefix, logger, assembly, size }, owned, signal);
    }
    const last = batch.messages.at(-1);
    const done = range === undefined || range.at >= range.to;
    if (last !== undefined && batch.running() && (done || messages.length === 0))
      batch.advancePast(last.offset);
    if (done) open.delete(key);
    if (open.size === 0) ended.resolve();
  };
  const topics = [...new Set([...wanted.values()].map(({ topic }) => topic))];
  const consumer = await client.consume({
    group,
    topics: topics.map((topic) => topicName(prefix, topic)),
    onBatch,
    onAssigned: () => {},
    onRevoked: () => {},
    onCrash: ended.reject,
  });
  try {
    for (const { topic, partition, to } of await logRanges(client, prefix, topics)) {
      const range = wanted.get(`${topicName(prefix, topic)}/${partition}`);
      // Without this a partition that is not wanted would be read from its beginning.
      consumer.seek(topicName(prefix, topic), partition, range?.from ?? to);
    }
    await Promise.race([ended.promise, aborted(signal)]);
  } finally {
    await consumer.stop();
    await client.deleteGroup(group).catch(() => {});
  }
}
