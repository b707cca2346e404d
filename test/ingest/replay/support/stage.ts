import type { Store } from '../../../../clickhouse/client.ts';
import { appliedOffsets, reaches } from '../../../../clickhouse/queries/progress/applied-offsets.ts';
import { declarePartitions } from '../../../../clickhouse/queries/progress/log-partitions.ts';
import { followServing } from '../../../../clickhouse/serving/follow-serving.ts';
import { createKafkaClient } from '../../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../../ingest/log/kafka/cluster.ts';
import { logRanges } from '../../../../ingest/log/kafka/offset-ranges.ts';
import { createKafkaReader } from '../../../../ingest/log/kafka/reader.ts';
import { ensureTopics, materialiserGroup } from '../../../../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../../../../ingest/log/kafka/writer.ts';
import type { LogBatch, LogWriter } from '../../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../../ingest/materialise/materialiser.ts';
import type { ReplayContext } from '../../../../ingest/operate/replay/context.ts';
import { replayOf } from '../../../../ingest/operate/replay/kinds.ts';
import type { FlagValues } from '../../../../runtime/config/flags.ts';
import { createLogger } from '../../../../runtime/process/log.ts';
import { awaited } from '../../../support/awaited.ts';
import { type Databases, openDatabases } from '../../../support/databases.ts';
import { sharedBrokers } from '../../../support/servers-of-run.ts';

const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');
const PARTITIONS = 3;

export interface Broker {
  brokers: string[];
  client: KafkaClient;
  stop(): Promise<void>;
}

export async function openBroker(): Promise<Broker> {
  const brokers = await sharedBrokers();
  const client = createKafkaClient({ brokers, tls: false, sasl: null, clientId: 'test' }, logger);
  return {
    brokers,
    client,
    stop: () => client.close(),
  };
}

export interface Live {
  stop(): Promise<void>;
}

export interface Run {
  said: string[];
  done: Promise<void>;
  stop(): void;
}

/** A log on topics of its own, its databases, and the processes that work on both. */
export interface Stage {
  databases: Databases;
  prefix: string;
  log: LogWriter;
  /** A materialiser that follows the serving database. @param older changes batches as an older, wrong decoder would */
  live(older?: (batch: LogBatch) => LogBatch): Live;
  /** `npm run replay` with these flags. @param wrap wraps each database that it opens */
  replay(flags?: FlagValues, wrap?: (store: Store) => Store): Run;
  /** Resolves once the whole log is applied. */
  applied(store: Store): Promise<void>;
  close(): Promise<void>;
}

let count = 0;

export async function openStage(client: KafkaClient, programId: Uint8Array): Promise<Stage> {
  count += 1;
  const prefix = `replay-${process.pid}-${Date.now()}-${count}`;
  await ensureTopics(client, { prefix, partitions: PARTITIONS, replication: null, retentionMs: '-1' });
  const databases = await openDatabases();
  const log = createKafkaWriter(client, prefix);
  const running = new Set<() => Promise<void>>();

  return {
    databases,
    prefix,
    log,
    live: (older = (batch) => batch) => {
      const stop = new AbortController();
      const options = { home: databases.home, openDatabase: databases.open, logger, signal: stop.signal };
      const done = followServing(options, async (store, signal) => {
        await declarePartitions(store, { accounts: PARTITIONS, transactions: PARTITIONS });
        const group = materialiserGroup(prefix, store.database);
        const materialise = createMaterialiser({
          ...{ store, programId },
          keepDeadLetters: (letters) => log.append(letters),
        });
        const reader = createKafkaReader(client, { prefix, group, logger });
        await reader.run((batch) => materialise(older(batch)), signal);
      });
      const end = async () => {
        running.delete(end);
        stop.abort();
        await done;
      };
      running.add(end);
      return { stop: end };
    },
    replay: (flags = {}, wrap = (store) => store) => {
      const stop = new AbortController();
      const said: string[] = [];
      const context: ReplayContext = {
        ...{ home: databases.home, cluster: null, kafka: client, prefix, programId, logger },
        openDatabase: async (name) => wrap(await databases.open(name)),
        signal: stop.signal,
        say: (sentence) => void said.push(sentence),
        progress: { update: () => {}, end: () => {} },
      };
      const done = replayOf(flags)(context).finally(() => running.delete(end));
      done.catch(() => {});
      const end = async () => {
        stop.abort();
        await done.catch(() => {});
      };
      running.add(end);
      return { said, done, stop: () => stop.abort() };
    },
    applied: (store) =>
      awaited(async () => {
        const ends = (await logRanges(client, prefix)).filter(({ to }) => to > 0n);
        const target = new Map(ends.map(({ topic, partition, to }) => [`${topic}/${partition}`, to - 1n]));
        if (!reaches(await appliedOffsets(store), target)) throw new Error('the log is not applied yet');
      }, 100),
    close: async () => {
      await Promise.all([...running].map((end) => end()));
      await log.close();
      await databases.close();
    },
  };
}
