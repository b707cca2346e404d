import '../../runtime/process/node-version.ts';
import path from 'node:path';
import { openServer } from '../../clickhouse/client.ts';
import { openDatabase } from '../../clickhouse/serving/serving.ts';
import { required } from '../../runtime/config/config.ts';
import { readFlags } from '../../runtime/config/flags.ts';
import { loadConfig } from '../../runtime/config/load.ts';
import { ConfigError, messageOf } from '../../runtime/errors.ts';
import { refuseHeld } from '../../runtime/process/data-lock.ts';
import { runMain } from '../../runtime/process/lifecycle.ts';
import { createLogger } from '../../runtime/process/log.ts';
import { createProgress } from '../../runtime/process/progress.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { openKafka } from '../log/kafka/open.ts';
import { replayOf } from '../operate/replay/kinds.ts';

const COMMAND = {
  usage: 'npm run replay',
  about:
    'Reads the log again. Without --from: the whole log into a new database, while the live system goes on; then all\nreaders switch to it at once. The next run continues one that was interrupted. An npm start that uses servers ends\nwith the switch, and serves the new database once it is started again. With --from: a part of the log, into the\ndatabase that is being served. Changes no figure if nothing was wrong.',
  flags: {
    from: {
      type: 'string',
      value: 'OFFSET|TIME',
      help: 'an offset in every partition, or the time since which records were written (2026-01-31T12:00:00Z)',
    },
    'dead-letters': { type: 'boolean', help: 'reads the records again that did not decode' },
    fresh: { type: 'boolean', help: 'starts another database instead of continuing an unfinished one' },
  },
} as const;

await runMain(async (signal) => {
  const replay = replayOf(readFlags(COMMAND, process.argv.slice(2)));
  const config = loadConfig();
  if (config.clickhouseUrl === null || config.kafkaBrokers === null) refuseHeld(path.resolve(config.dataDir));
  const { clickhouseUrl: url } = required(config, {
    clickhouseUrl: 'replay works on servers',
    kafkaBrokers: 'what npm start keeps in DATA_DIR has no log to read again',
  });
  const { clickhouseCluster: cluster } = config;
  const logger = createLogger(config.logLevel, 'replay');
  const home = await openServer(url, cluster).catch((error) => {
    throw new ConfigError(`the ClickHouse server of CLICKHOUSE_URL does not answer: ${messageOf(error)}`);
  });
  const kafka = openKafka(config, logger);
  try {
    await replay({
      ...{ home, cluster, kafka, logger, signal },
      openDatabase: (name) => openDatabase(url, name, cluster),
      prefix: config.kafkaTopicPrefix,
      programId: decodeKey(config.programId) as Uint8Array,
      say: (sentence) => process.stdout.write(`${sentence}\n`),
      progress: createProgress({ what: 'replay', unit: 'records' }),
    });
  } finally {
    await home.close();
    await kafka.close();
  }
});
