import '../../runtime/process/node-version.ts';
import path from 'node:path';
import { appliedPlaces } from '../../clickhouse/queries/progress/applied-offsets.ts';
import { ofIndexedChain } from '../../clickhouse/queries/progress/indexed-chain.ts';
import { partitionsMustBeAsDeclared } from '../../clickhouse/queries/progress/log-partitions.ts';
import { appliedMarkers } from '../../clickhouse/queries/progress/stream-store.ts';
import { schemaMustBeKnown } from '../../clickhouse/schema/migrate.ts';
import { whileSchemaIsKnown } from '../../clickhouse/schema/while-schema-is-known.ts';
import { openStore } from '../../clickhouse/serving/open-serving.ts';
import { type Config, required } from '../../runtime/config/config.ts';
import { readFlags, wholeNumber } from '../../runtime/config/flags.ts';
import { loadConfig } from '../../runtime/config/load.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { refuseHeld } from '../../runtime/process/data-lock.ts';
import { runMain } from '../../runtime/process/lifecycle.ts';
import { createLogger } from '../../runtime/process/log.ts';
import { notReached } from '../../runtime/process/not-reached.ts';
import { createProgress } from '../../runtime/process/progress.ts';
import { createRpc } from '../../runtime/rpc/rpc.ts';
import { assertLogReachesApplied } from '../log/kafka/log-identity.ts';
import { openKafka } from '../log/kafka/open.ts';
import { assertLogOfProgramOnceReachable } from '../log/kafka/position.ts';
import { partitionsOf, topicName } from '../log/kafka/topics.ts';
import { createKafkaWriter } from '../log/kafka/writer.ts';
import { createCursorFile, logPlaces } from '../operate/backfill/cursor.ts';
import { outcome, unreadLines } from '../operate/backfill/outcome.ts';
import { runBackfill } from '../operate/backfill/run.ts';
import { backfillStore } from '../operate/backfill/stored.ts';

const COMMAND = {
  usage: 'npm run backfill',
  about:
    'Reads all accounts, and then all transactions from the newest to the oldest, over SOLANA_RPC_URL into the log on\nKAFKA_BROKERS. Runs beside ingest. What is indexed already stays served, and reading it again changes no figure.\nAn interrupted run keeps its place in DATA_DIR: the next one says so, continues there, and reads what came since.',
  flags: {
    'from-slot': {
      type: 'string',
      value: 'N',
      help: 'reads no transaction before this slot (default: PROGRAM_START_SLOT)',
    },
  },
} as const;

await runMain(async (signal) => {
  const flags = readFlags(COMMAND, process.argv.slice(2));
  const from = flags['from-slot'] as string | undefined;
  const config = loadConfig();
  const fromSlot = from === undefined ? config.programStartSlot : BigInt(wholeNumber('from-slot', from));
  const { rpcUrls, brokers } = servers(config);
  const { programId, launchpadProgramId, kafkaTopicPrefix: prefix, commitment } = config;
  const logger = createLogger(config.logLevel, 'backfill');
  const kafka = openKafka(config, logger);
  const log = createKafkaWriter(kafka, prefix);
  try {
    const partitions = await partitionsOf(kafka, prefix).catch(notReached('KAFKA_BROKERS'));
    const store = await openStore(config, { logger, signal });
    const stopped = 'stopped before anything was read: run it again to go on';
    if (store === null) throw new ConfigError(stopped);
    await partitionsMustBeAsDeclared(store, partitions);
    if (
      (await assertLogOfProgramOnceReachable(kafka, prefix, () => appliedMarkers(store), {
        logger,
        signal,
      })) === null
    )
      throw new ConfigError(stopped);
    await assertLogReachesApplied(kafka, prefix, store.database, await appliedPlaces(store));
    const warn = (words: string) => logger.warn(words);
    const rpc = ofIndexedChain(createRpc(rpcUrls, { commitment }), () => store, warn);
    const cursor = createCursorFile(
      path.resolve(config.dataDir),
      [...[...brokers].sort(), prefix, programId, String(fromSlot)],
      logPlaces(kafka, topicName(prefix, 'transactions')),
    );
    const done = await whileSchemaIsKnown(
      () => schemaMustBeKnown(store),
      { logger, signal },
      (known) =>
        runBackfill({
          ...{ rpc, log, programId, launchpadProgramId, fromSlot, cursor, logger, signal: known },
          store: backfillStore(store),
          say: (sentence) => process.stdout.write(`${sentence}\n`),
          progress: (what, unit) => createProgress({ what, unit }),
        }),
    );
    await store.close();
    if (done === null) throw new ConfigError('stopped before the end: run it again to go on');
    process.stdout.write(`${outcome(done, fromSlot).join('\n')}\n`);
    const unread = unreadLines(done);
    if (unread.length > 0) throw new ConfigError(unread.join('\n'));
  } finally {
    await log.close();
    await kafka.close();
  }
});

/** @throws ConfigError where a server is not configured, DataLockedError where npm start is at work instead. */
function servers(config: Config): { rpcUrls: readonly string[]; brokers: string[] } {
  const missing = config.kafkaBrokers === null || config.clickhouseUrl === null;
  if (missing) refuseHeld(path.resolve(config.dataDir));
  const { kafkaBrokers: brokers, solanaRpcUrl: rpcUrls } = required(config, {
    kafkaBrokers: 'backfill works on servers, npm start reads history by itself',
    clickhouseUrl: 'the index is kept on a ClickHouse server',
    solanaRpcUrl: 'history is read over it',
  });
  return { brokers, rpcUrls };
}
