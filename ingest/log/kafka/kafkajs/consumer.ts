import type kafkajs from 'kafkajs';
import type { ConsumeOptions, WireConsumer } from '../cluster.ts';
import { programIn } from '../log-program.ts';
import { RETRY } from './retry.ts';

/** If this were longer, stopping would take 5 s; if it were shorter, an idle consumer would be busy fetching. */
const LONGEST_FETCH_MS = 200;
/** A member that is silent for this long loses its partitions; those of a killed member are read by nobody as long. */
const SESSION_MS = 12_000;
const PARTITIONS_AT_ONCE = 8;

export async function openConsumer(
  kafka: kafkajs.Kafka,
  options: ConsumeOptions,
  onTimeout: (event: kafkajs.RequestTimeoutEvent) => void,
): Promise<WireConsumer> {
  const consumer = kafka.consumer({
    groupId: options.group,
    sessionTimeout: SESSION_MS,
    heartbeatInterval: 3_000,
    maxWaitTimeInMs: LONGEST_FETCH_MS,
    maxBytesPerPartition: 4 * 1024 * 1024,
    maxBytes: 32 * 1024 * 1024,
    allowAutoTopicCreation: false,
    // Few: a restart of the consumer looks up the group's coordinator again, a retry does not.
    retry: { ...RETRY, retries: 3, restartOnFailure: async () => true },
  });
  const { GROUP_JOIN, REBALANCING, CRASH, REQUEST_TIMEOUT } = consumer.events;
  consumer.on(REQUEST_TIMEOUT, onTimeout);
  consumer.on(GROUP_JOIN, ({ payload }) =>
    options.onAssigned(new Map(Object.entries(payload.memberAssignment))),
  );
  let begun = false;
  let refusal: Error | null = null;
  consumer.on(REBALANCING, () => options.onRevoked(null));
  consumer.on(CRASH, ({ payload: { error, restart } }) => {
    options.onRevoked(error);
    if (restart) return;
    if (begun) options.onCrash(error);
    else refusal = error;
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [...options.topics], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
      eachBatch: ({ batch, heartbeat, commitOffsetsIfNecessary, resolveOffset, isRunning, isStale }) => {
        const { topic, partition } = batch;
        return options.onBatch({
          topic,
          partition,
          messages: batch.messages.map(({ offset, value, timestamp, headers }) => ({
            offset: BigInt(offset),
            value: value ?? new Uint8Array(0),
            writtenAt: Number(timestamp),
            program: programIn(headers),
          })),
          heartbeat,
          advancePast: (offset) => resolveOffset(offset.toString()),
          rewind: (offset) => consumer.seek({ topic, partition, offset: offset.toString() }),
          commit: async (next) => {
            const partitions = [{ partition, offset: next.toString() }];
            await commitOffsetsIfNecessary({ topics: [{ topic, partitions }] });
          },
          running: () => isRunning() && !isStale(),
        });
      },
    });
    // `run` does not throw where the consumer was refused, and such a consumer cannot seek any more.
    if (refusal !== null) throw refusal;
    begun = true;
  } catch (error) {
    await consumer.disconnect().catch(() => {});
    throw error;
  }
  return {
    seek: (topic, partition, offset) => consumer.seek({ topic, partition, offset: offset.toString() }),
    stop: () => consumer.disconnect(),
  };
}
