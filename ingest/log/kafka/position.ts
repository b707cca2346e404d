import { randomUUID } from 'node:crypto';
import type { AppliedMarker } from '../../../clickhouse/queries/progress/stream-store.ts';
import { RetryableError } from '../../../runtime/errors.ts';
import { type RetryOptions, retryUntilDone } from '../../../runtime/retry.ts';
import type { LogPosition } from '../port.ts';
import { decodeRecord, UnreadableRecordError } from '../record-codec.ts';
import { TOPICS_OF } from '../topics.ts';
import type { KafkaClient, WireBatch } from './cluster.ts';
import { type ForeignRecord, findForeignRecord, foreignLogError, mixedLogError } from './log-program.ts';
import { partitionsOf, topicName } from './topics.ts';

const FIRST_STEP = 200n;

interface Place {
  /** `topic/partition`, with the log's own name of the topic: the key of the applied markers. */
  key: string;
  topic: string;
  partition: number;
  low: bigint;
  high: bigint;
  from: bigint;
  /** The last marker between `from` and what was read so far. */
  marker: LogPosition | null;
  read: bigint;
}

/**
 * The slots up to which the log is whole: the lowest last marker over all partitions of accounts and transactions,
 * read from their ends backwards. Retention may have deleted a partition's last marker: where everything that it
 * deleted was applied, the last applied marker is the one. Null where some partition has none.
 * @param applied asked where a marker is missing, and where a record names another program: if anything of the log is
 * applied, the error says that two programs wrote to it.
 * @throws ConfigError where a record that is read names another program.
 */
export async function readLogPosition(
  client: KafkaClient,
  prefix: string,
  applied: () => Promise<ReadonlyMap<string, AppliedMarker>>,
): Promise<LogPosition | null> {
  const places: Place[] = [];
  for (const name of TOPICS_OF.marker) {
    const topic = topicName(prefix, name);
    for (const { partition, low, high } of await client.offsets(topic)) {
      const key = `${name}/${partition}`;
      places.push({ key, topic, partition, low, high, from: high, marker: null, read: high });
    }
  }
  for (let step = FIRST_STEP; ; step *= 16n) {
    const unread = places.filter(({ marker, from, low }) => marker === null && from > low);
    if (unread.length === 0) break;
    for (const place of unread) {
      place.from = later(place.high - step, place.low);
      place.read = place.from;
    }
    const foreign = await readToEnd(client, prefix, places, unread);
    if (foreign !== null)
      throw ((await applied()).size > 0 ? mixedLogError : foreignLogError)(prefix, foreign);
  }
  // A partition that never had a record has no marker anywhere.
  if (places.some(({ high }) => high === 0n)) return null;
  const deleted = places.some(({ marker }) => marker === null) ? await applied() : null;
  const markers = places.flatMap(
    (place) => place.marker ?? lastApplied(place, deleted?.get(place.key)) ?? [],
  );
  if (markers.length < places.length) return null;
  return {
    slot: lowest(markers.map(({ slot }) => slot)),
    followed: lowest(markers.map(({ followed }) => followed)),
  };
}

/**
 * Checks that a log may be written to, and a database begun with it.
 * @throws ConfigError where its end names another program
 */
export const assertLogOfProgram = async (
  client: KafkaClient,
  prefix: string,
  applied: () => Promise<ReadonlyMap<string, AppliedMarker>>,
): Promise<void> => void (await readLogPosition(client, prefix, applied));

/** Retries `assertLogOfProgram` until the brokers answer; null where the signal came first: nothing may be written. */
export const assertLogOfProgramOnceReachable = (
  client: KafkaClient,
  prefix: string,
  applied: () => Promise<ReadonlyMap<string, AppliedMarker>>,
  options: RetryOptions,
): Promise<boolean | null> =>
  retryUntilDone(
    'asking of which program the log is',
    async () => {
      await partitionsOf(client, prefix);
      await assertLogOfProgram(client, prefix, applied);
      return true;
    },
    options,
  );

/** The last applied marker, where all that retention deleted was applied: no later marker is among that. Else null. */
const lastApplied = ({ low }: Place, applied: AppliedMarker | undefined): LogPosition | null =>
  applied !== undefined && applied.next >= low ? applied : null;

const lowest = (slots: readonly bigint[]): bigint => slots.toSorted(ascending)[0] as bigint;

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b));
const later = (a: bigint, b: bigint) => [a, b].sort(ascending)[1] as bigint;

/** Null also for bytes that are no record: a materialiser makes a dead letter of them. */
function markerIn(value: Uint8Array): LogPosition | null {
  try {
    const record = decodeRecord(value);
    return record.kind === 'marker'
      ? { slot: record.slot, followed: record.followed?.slot ?? record.slot }
      : null;
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    return null;
  }
}

/** Reads the wanted places to their ends. @returns the first record of another program, at which it stops; else null */
async function readToEnd(
  client: KafkaClient,
  prefix: string,
  places: readonly Place[],
  wanted: readonly Place[],
): Promise<ForeignRecord | null> {
  const keyOf = (at: { topic: string; partition: number }) => `${at.topic}/${at.partition}`;
  const open = new Map(wanted.map((place) => [keyOf(place), place]));
  const done = Promise.withResolvers<ForeignRecord | null>();
  // It may reject before anything awaits it, which must not count as an unhandled rejection.
  done.promise.catch(() => {});
  const group = `${places[0]?.topic}-position-${randomUUID()}`;
  const onBatch = async (batch: WireBatch) => {
    const place = open.get(keyOf(batch));
    const foreign = findForeignRecord(client, prefix, batch);
    if (foreign !== null) return done.resolve(foreign);
    for (const { offset, value } of batch.messages) {
      if (!batch.running()) return;
      batch.advancePast(offset);
      if (place === undefined || offset < place.from || offset >= place.high) continue;
      place.read = offset + 1n;
      place.marker = markerIn(value) ?? place.marker;
    }
    await batch.heartbeat();
    if (place !== undefined && place.read === place.high) open.delete(keyOf(batch));
    if (open.size === 0) done.resolve(null);
  };
  const consumer = await client.consume({
    group,
    topics: [...new Set(places.map(({ topic }) => topic))],
    onBatch,
    onAssigned: () => {},
    // A consumer that joins again begins at the first offset, and not where it was told to seek.
    onRevoked: (why) =>
      done.reject(why ?? new RetryableError('the group that reads the ends of the log was ended')),
    onCrash: done.reject,
  });
  try {
    // Rejects here where the consumer has ended by now: it could not seek.
    await Promise.race([done.promise, null]);
    // Without this a partition that is not wanted would be read from its beginning.
    for (const place of places) {
      const from = wanted.includes(place) ? place.from : place.high;
      consumer.seek(place.topic, place.partition, from);
    }
    return await done.promise;
  } finally {
    await consumer.stop();
    await client.deleteGroup(group).catch(() => {});
  }
}
