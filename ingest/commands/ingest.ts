import '../../runtime/process/node-version.ts';
import { appliedPlaces } from '../../clickhouse/queries/progress/applied-offsets.ts';
import { partitionsMustBeAsDeclared } from '../../clickhouse/queries/progress/log-partitions.ts';
import { appliedMarkers, lowestMarker } from '../../clickhouse/queries/progress/stream-store.ts';
import { followConfigured, notOpenedYet } from '../../clickhouse/serving/follow-serving.ts';
import { required } from '../../runtime/config/config.ts';
import { NotReadyError } from '../../runtime/process/readiness.ts';
import { runService } from '../../runtime/process/service.ts';
import { retryUntilDone } from '../../runtime/retry.ts';
import { createRpc } from '../../runtime/rpc/rpc.ts';
import { assertLogReachesApplied } from '../log/kafka/log-identity.ts';
import { openKafka } from '../log/kafka/open.ts';
import { readLogPosition } from '../log/kafka/position.ts';
import { partitionsOf } from '../log/kafka/topics.ts';
import { createKafkaWriter } from '../log/kafka/writer.ts';
import { streamMetrics } from '../stream/metrics.ts';
import { streamWords } from '../stream/state.ts';
import { storedState } from '../stream/stored-state.ts';
import { runStream } from '../stream/stream.ts';

const COMMAND = {
  usage: 'npm run ingest',
  about:
    'Streams the program of PROGRAM_ID from YELLOWSTONE_ENDPOINT into Kafka, and reads over RPC what the stream\ncannot bring. One of these runs at a time: start another once it has ended.',
  flags: {},
};

await runService('ingest', COMMAND, async ({ config, logger, registry, signal, needs, notes }) => {
  const { yellowstoneEndpoint: endpoint, solanaRpcUrl: rpcUrls } = required(config, {
    yellowstoneEndpoint: 'the chain is streamed from it',
    kafkaBrokers: 'the log is kept there',
    clickhouseUrl: 'the index is kept on a ClickHouse server',
    solanaRpcUrl: 'accounts and history are read over it',
  });
  const rpc = createRpc(rpcUrls, { commitment: config.commitment });
  const kafka = openKafka(config, logger);
  const prefix = config.kafkaTopicPrefix;
  const metrics = streamMetrics(registry);
  needs('Kafka', () => kafka.brokerCount());
  needs('Solana RPC', () => rpc.getSlot());
  needs('stream', async () => {
    const words = streamWords(metrics.state());
    if (words !== null && !metrics.state().connected) throw new NotReadyError(words);
  });
  notes('stream', () => (metrics.state().connected ? streamWords(metrics.state()) : null));
  const partitions = await retryUntilDone('looking for the topics', () => partitionsOf(kafka, prefix), {
    logger,
    signal,
  });
  needs('ClickHouse', notOpenedYet);
  if (partitions !== null) {
    const lost = Promise.withResolvers<never>();
    const log = createKafkaWriter(kafka, prefix, lost.reject);
    const streaming = followConfigured(config, { logger, signal }, (store, stop) => {
      needs('ClickHouse', () => store.query('SELECT 1'));
      return runStream({
        ...{ endpoint, rpc, log, logger, signal: stop },
        ...{ programId: config.programId, launchpadProgramId: config.launchpadProgramId },
        ...{ xToken: config.yellowstoneXToken, commitment: config.commitment },
        startSlot: config.programStartSlot,
        store: {
          ...storedState(store),
          position: async () => {
            // In a log that has lost its end, new records would stand at offsets that the sums contain already.
            await partitionsMustBeAsDeclared(store, await partitionsOf(kafka, prefix));
            await assertLogReachesApplied(kafka, prefix, store.database, await appliedPlaces(store));
            return readLogPosition(kafka, prefix, () => appliedMarkers(store));
          },
          applied: () => lowestMarker(store, partitions.accounts + partitions.transactions),
        },
        onEvent: metrics.onEvent,
      });
    });
    await Promise.race([streaming, lost.promise]);
    await log.close();
  }
  await kafka.close();
});
