import '../../runtime/process/node-version.ts';
import { asideOf, type Store } from '../../clickhouse/client.ts';
import { appliedOffsets, appliedPlaces } from '../../clickhouse/queries/progress/applied-offsets.ts';
import { declarePartitions } from '../../clickhouse/queries/progress/log-partitions.ts';
import { appliedMarkers } from '../../clickhouse/queries/progress/stream-store.ts';
import { schemaMustBeKnown } from '../../clickhouse/schema/migrate.ts';
import { whileSchemaIsKnown } from '../../clickhouse/schema/while-schema-is-known.ts';
import { followConfigured, notOpenedYet } from '../../clickhouse/serving/follow-serving.ts';
import { required } from '../../runtime/config/config.ts';
import { messageOf } from '../../runtime/errors.ts';
import { beginWait } from '../../runtime/process/readiness.ts';
import { runService, type Service } from '../../runtime/process/service.ts';
import { retryUntilDone } from '../../runtime/retry.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import type { KafkaClient } from '../log/kafka/cluster.ts';
import { assertSameLog } from '../log/kafka/log-identity.ts';
import { warnOfLostGroupOffsets } from '../log/kafka/lost-group-offsets.ts';
import { openKafka } from '../log/kafka/open.ts';
import { assertLogOfProgram } from '../log/kafka/position.ts';
import { createKafkaReader } from '../log/kafka/reader.ts';
import {
  assignmentByTopic,
  endsOf,
  materialiserGroup,
  partitionsOf,
  topicName,
} from '../log/kafka/topics.ts';
import { createKafkaWriter } from '../log/kafka/writer.ts';
import { letterMetrics } from '../materialise/letters/metrics.ts';
import { createMaterialiser } from '../materialise/materialiser.ts';
import { type MaterialiseMetrics, materialiseMetrics } from '../materialise/metrics.ts';
import { keepQuoteHours } from '../materialise/quote-hours.ts';

const COMMAND = {
  usage: 'npm run materialise',
  about:
    'Writes what the log holds to ClickHouse. Several may run side by side: they share the log’s partitions.',
  flags: {},
};

await runService('materialise', COMMAND, async (service) => {
  const { config, logger, registry, signal, needs } = service;
  required(config, {
    kafkaBrokers: 'the log is kept there',
    clickhouseUrl: 'the index is kept on a ClickHouse server',
  });
  const kafka = openKafka(config, logger);
  needs('Kafka', () => kafka.brokerCount());
  const metrics = materialiseMetrics(registry, (topic) =>
    endsOf(kafka, topicName(config.kafkaTopicPrefix, topic)),
  );
  let current: Store | null = null;
  letterMetrics(registry, () => current);
  needs('ClickHouse', notOpenedYet);
  await followConfigured(config, { logger, signal }, (store, stop) => {
    current = store;
    needs('ClickHouse', () => store.query('SELECT 1'));
    const options = { logger, signal: stop };
    return whileSchemaIsKnown(
      () => schemaMustBeKnown(store),
      options,
      (known) => consume({ ...service, signal: known }, kafka, store, metrics),
    );
  });
  await kafka.close();
});

/** Applies the log to one database until the signal aborts. */
async function consume(
  { config, logger, signal, needs }: Service,
  kafka: KafkaClient,
  store: Store,
  metrics: MaterialiseMetrics,
): Promise<void> {
  const prefix = config.kafkaTopicPrefix;
  const wait = beginWait();
  needs('consumer group', wait.probe);
  const options = { logger, signal, onWait: wait.tell };
  const counted = await retryUntilDone('looking for the topics', () => partitionsOf(kafka, prefix), options);
  if (counted === null) return;
  const { accounts, transactions } = counted;
  await retryUntilDone(
    'comparing the log with the database',
    async () => {
      const applied = await appliedPlaces(store);
      // Not checked of a database with something applied: its reader ends where another program's records begin, and
      // applies none of them.
      if (applied.size === 0) await assertLogOfProgram(kafka, prefix, () => appliedMarkers(store));
      await assertSameLog(kafka, prefix, store.database, applied);
    },
    options,
  );
  const declared = { accounts, transactions };
  await retryUntilDone('declaring partitions', () => declarePartitions(store, declared), options);
  const group = materialiserGroup(prefix, store.database);
  await retryUntilDone(
    'looking for the place in the log',
    async () =>
      warnOfLostGroupOffsets(kafka, { prefix, group, applied: await appliedOffsets(store), logger }),
    options,
  );
  const writer = createKafkaWriter(kafka, prefix);
  const materialise = createMaterialiser({
    store,
    programId: decodeKey(config.programId) as Uint8Array,
    keepDeadLetters: (letters) => writer.append(letters),
    onDeadLetter: ({ what }) => metrics.deadLetter(what),
    onTakenOver: metrics.takenOver,
  });
  wait.tell('the group has not given this process its partitions');
  let isFirst = false;
  const reader = createKafkaReader(kafka, {
    ...{ prefix, group, logger, declared },
    onAssigned: (assignment) => {
      wait.tell(null);
      const own = assignmentByTopic(prefix, assignment);
      isFirst = own.get('accounts')?.includes(0) ?? false;
      metrics.assigned(own);
    },
    onEnded: (error) => {
      wait.tell(`this process has no partitions: ${messageOf(error)}`);
      isFirst = false;
    },
  });
  // It ends by the signal and is not awaited: its queries may take longer than a stop is allowed to.
  void keepQuoteHours({ store: asideOf(store, 'hours', 1), logger, signal, isOurs: () => isFirst });
  await reader.run(metrics.measured(materialise), signal);
  await writer.close();
}
