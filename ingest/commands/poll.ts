import '../../runtime/process/node-version.ts';
import { ofIndexedChain } from '../../clickhouse/queries/progress/indexed-chain.ts';
import { appliedMarkers } from '../../clickhouse/queries/progress/stream-store.ts';
import { followConfigured, notOpenedYet } from '../../clickhouse/serving/follow-serving.ts';
import { required } from '../../runtime/config/config.ts';
import { beginWait } from '../../runtime/process/readiness.ts';
import { runService } from '../../runtime/process/service.ts';
import { createRpc } from '../../runtime/rpc/rpc.ts';
import { openKafka } from '../log/kafka/open.ts';
import { assertLogOfProgramOnceReachable } from '../log/kafka/position.ts';
import { createKafkaWriter } from '../log/kafka/writer.ts';
import { pollMetrics } from '../poll/metrics.ts';
import { runPollers } from '../poll/pollers.ts';

const COMMAND = {
  usage: 'npm run poll',
  about:
    'Reads venues, catalogue, prices and token documents into Kafka, as often as POLL_INTERVAL_MS says.\nA source without a configured URL is not read.',
  flags: {},
};

await runService('poll', COMMAND, async ({ config, logger, registry, signal, needs }) => {
  const { solanaRpcUrl: rpcUrls } = required(config, {
    kafkaBrokers: 'readings are written to the log there',
    clickhouseUrl: 'what is to be read stands in the index there',
    solanaRpcUrl: 'the programs of the venues are looked up over it',
  });
  const rpc = createRpc(rpcUrls, { commitment: config.commitment });
  const kafka = openKafka(config, logger);
  needs('Kafka', () => kafka.brokerCount());
  const writer = createKafkaWriter(kafka, config.kafkaTopicPrefix);
  const counted = pollMetrics(writer, registry);
  needs('ClickHouse', notOpenedYet);
  await followConfigured(config, { logger, signal }, async (store, stop) => {
    const wait = beginWait();
    needs('log', wait.probe);
    needs('ClickHouse', () => store.query('SELECT 1'));
    const ofChain = ofIndexedChain(
      rpc,
      () => store,
      (words) => logger.warn(words),
    );
    // Readings name no program: in the log of another one they would be served as its newest.
    const applied = () => appliedMarkers(store);
    const options = { logger, signal: stop, onWait: wait.tell };
    await assertLogOfProgramOnceReachable(kafka, config.kafkaTopicPrefix, applied, options);
    wait.tell(null);
    await runPollers({ config, store, ...counted, rpc: ofChain, logger, signal: stop });
  });
  await writer.close();
  await kafka.close();
});
