import type { Store } from '../clickhouse/client.ts';
import { appliedOffsets, appliedPlaces } from '../clickhouse/queries/progress/applied-offsets.ts';
import { declarePartitions } from '../clickhouse/queries/progress/log-partitions.ts';
import {
  appliedMarkers,
  appliedPosition,
  lowestMarker,
  startOffsets,
} from '../clickhouse/queries/progress/stream-store.ts';
import { onClusterClause } from '../clickhouse/schema/cluster.ts';
import { type LeaseTimes, type LogLease, takeLogLease } from '../clickhouse/schema/log-lease.ts';
import { createMemoryLog } from '../ingest/log/in-process.ts';
import { assertSameLog } from '../ingest/log/kafka/log-identity.ts';
import { warnOfLostGroupOffsets } from '../ingest/log/kafka/lost-group-offsets.ts';
import { openKafka } from '../ingest/log/kafka/open.ts';
import {
  assertLogOfProgram,
  assertLogOfProgramOnceReachable,
  readLogPosition,
} from '../ingest/log/kafka/position.ts';
import { createKafkaReader } from '../ingest/log/kafka/reader.ts';
import {
  assignmentByTopic,
  endsOf,
  ensureTopics,
  materialiserGroup,
  partitionsOf,
  retentionMismatches,
  topicName,
} from '../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../ingest/log/kafka/writer.ts';
import { type LogReader, type LogWriter, MAX_BATCH_ENTRIES, TOPICS, type Topic } from '../ingest/log/port.ts';
import { skipCutOffBatch } from '../ingest/materialise/progress.ts';
import type { StreamStore } from '../ingest/stream/stored-state.ts';
import type { Config } from '../runtime/config/config.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Logger } from '../runtime/process/log.ts';
import { notReached } from '../runtime/process/not-reached.ts';

/** The log that the stages share, with the position that it and its applied part have reached. */
export type SharedLog = LogWriter &
  LogReader &
  Pick<StreamStore, 'position' | 'applied'> & {
    /** Hands out at once what is being gathered: a reader waits for it. */
    handOutNow?(): void;
    /** The offset that the next record gets, by partition of a topic. */
    ends(topic: Topic): Promise<ReadonlyMap<number, bigint>>;
  };

export interface SharedLogOptions {
  /** How long the in-process log gathers the records behind a batch before it hands them out. */
  lingerMs?: () => number;
  /** Called with the partitions that are assigned to this process. */
  onAssigned?: (own: ReadonlyMap<Topic, readonly number[]>) => void;
  /** The lease under which an in-process log fills a database that other processes can reach too. */
  lease?: LogLease | null;
  /** Aborted when the process is to stop: ends the wait for brokers that cannot say yet which program a log is of. */
  signal?: AbortSignal;
}

const NEVER = new AbortController().signal;

/** The lease for filling a database that other processes can reach; null with an embedded engine or a Kafka log. */
export async function leaseOf(
  { kafkaBrokers, clickhouseCluster }: Config,
  store: Store,
  logger: Logger,
  times?: LeaseTimes,
): Promise<LogLease | null> {
  if (kafkaBrokers !== null || store.exclusive) return null;
  const onWait = (seconds: number) =>
    logger.warn(
      { seconds },
      'another process held the database: waiting up to `seconds` s to see whether it is still alive',
    );
  return takeLogLease(store, onClusterClause(clickhouseCluster), onWait, times);
}

/** Kafka where KAFKA_BROKERS names it, its topics made where they are missing; else a log in this process. */
export async function openLog(
  config: Config,
  store: Store,
  logger: Logger,
  options: SharedLogOptions = {},
): Promise<SharedLog> {
  if (config.kafkaBrokers !== null) return overKafka(config, store, logger, options);
  options.onAssigned?.(new Map(TOPICS.map((topic) => [topic, [0]])));
  return inProcess(store, logger, options);
}

async function inProcess(
  store: Store,
  logger: Logger,
  { lingerMs = () => 0, lease = null }: SharedLogOptions,
): Promise<SharedLog> {
  await declarePartitions(store, { accounts: 1, transactions: 1 });
  await skipCutOffBatch(store, MAX_BATCH_ENTRIES);
  const log = createMemoryLog({
    startOffsets: await startOffsets(store),
    lingerMs,
    onFailure: (error) => logger.warn({ error: messageOf(error) }, 'a batch was not applied; trying again'),
    ...(lease && { owned: lease.isHeld }),
  });
  return {
    ...log,
    run: (apply, signal) => Promise.race([log.run(apply, signal), ...(lease === null ? [] : [lease.lost])]),
    close: async () => lease?.release(),
    position: () => appliedPosition(store, 2),
    ends: async (topic) => new Map([[0, log.end(topic)]]),
  };
}

async function overKafka(
  config: Config,
  store: Store,
  logger: Logger,
  { onAssigned = () => {}, signal = NEVER }: SharedLogOptions,
): Promise<SharedLog> {
  const client = openKafka(config, logger);
  const prefix = config.kafkaTopicPrefix;
  const settings = {
    prefix,
    partitions: config.kafkaPartitions,
    replication: config.kafkaReplication,
    retentionMs: config.kafkaRetentionMs,
  };
  await ensureTopics(client, settings).catch(
    notReached('KAFKA_BROKERS', ', or unset KAFKA_BROKERS for a log in this process'),
  );
  for (const sentence of await retentionMismatches(client, settings).catch(() => [])) logger.warn(sentence);
  const { accounts, transactions } = await partitionsOf(client, prefix);
  // Checked now, whatever is applied: pollers write before the reader would come upon another program's records.
  const begun = () => appliedMarkers(store);
  if ((await assertLogOfProgramOnceReachable(client, prefix, begun, { logger, signal })) === null)
    await assertLogOfProgram(client, prefix, begun);
  await declarePartitions(store, { accounts, transactions });
  await assertSameLog(client, prefix, store.database, await appliedPlaces(store));
  const group = materialiserGroup(prefix, store.database);
  await warnOfLostGroupOffsets(client, { prefix, group, applied: await appliedOffsets(store), logger });
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  const writer = createKafkaWriter(client, prefix, lost.reject);
  const reader = createKafkaReader(client, {
    prefix,
    group,
    logger,
    declared: { accounts, transactions },
    onAssigned: (assignment) => onAssigned(assignmentByTopic(prefix, assignment)),
  });
  return {
    append: writer.append,
    run: (apply, signal) => Promise.race([reader.run(apply, signal), lost.promise]),
    position: () => readLogPosition(client, prefix, () => appliedMarkers(store)),
    applied: () => lowestMarker(store, accounts + transactions),
    ends: (topic) => endsOf(client, topicName(prefix, topic)),
    close: async () => {
      await writer.close();
      await client.close();
    },
  };
}
