import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import kafkajs from 'kafkajs';
import { openEmbedded } from '../clickhouse/client.ts';
import { migrate } from '../clickhouse/schema/migrate.ts';
import { encodeBlock } from '../devnet/geyser/encode.ts';
import { type Outgoing, planRounds } from '../ingest/log/kafka/append-rounds.ts';
import { createKafkaClient } from '../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../ingest/log/kafka/cluster.ts';
import { createKafkaReader } from '../ingest/log/kafka/reader.ts';
import { ensureTopics, partitionsOf, topicName } from '../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../ingest/log/kafka/writer.ts';
import type { LogBatch, Topic } from '../ingest/log/port.ts';
import { createMaterialiser } from '../ingest/materialise/materialiser.ts';
import { readUpdate } from '../ingest/stream/geyser/update.ts';
import { createLogger } from '../runtime/process/log.ts';
import type { LogRecord } from '../schemas/records.ts';
import { decodeKey } from '../schemas/solana/base58.ts';
import { startKafka } from '../test/support/kafka.ts';
import type { Row } from './support/row.ts';
import { blockOf, FIRST_SLOT, type Samples, samples } from './support/samples.ts';

const PARTITIONS = 4;
/** Most slots in one append, as the outbox appends while it catches up. */
const SLOTS_AT_ONCE = 10;
const logger = createLogger('silent', 'bench');

function recordsOf(slot: bigint, found: Samples): LogRecord[] {
  const block = blockOf(slot, found);
  const { accounts, transactions } = encodeBlock(block);
  const { parent, blockTime } = block;
  const records = [...accounts, ...transactions].flatMap(({ bytes }): LogRecord[] => {
    const update = readUpdate(bytes);
    const common = { source: 'stream', blockTime } as const;
    if (update.type === 'account')
      return [{ ...common, ...update, kind: 'account', expected: 'program' } as LogRecord];
    if (update.type === 'transaction')
      return [{ ...common, ...update, kind: 'transaction', order: 0, format: 'geyser' } as LogRecord];
    return [];
  });
  return [...records, { kind: 'marker', slot, parent, blockTime }];
}

interface Load {
  /** The records of each append, in order. */
  appends: LogRecord[][];
  updates: number;
  programId: string;
}

async function makeLoad(slots: number): Promise<Load> {
  const found = await samples();
  const appends: LogRecord[][] = [];
  for (let done = 0; done < slots; done += SLOTS_AT_ONCE) {
    const some = Array.from({ length: Math.min(SLOTS_AT_ONCE, slots - done) }, (_, at) =>
      recordsOf(FIRST_SLOT + BigInt(done + at), found),
    );
    appends.push(some.flat());
  }
  const updates = appends.flat().filter(({ kind }) => kind !== 'marker').length;
  return { appends, updates, programId: found.chain.programId };
}

async function freshTopics(client: KafkaClient, prefix: string): Promise<Record<Topic, number>> {
  await ensureTopics(client, { prefix, partitions: PARTITIONS, replication: 1, retentionMs: '-1' });
  return partitionsOf(client, prefix);
}

/** Baseline: updates a second of kafkajs alone, with the same bytes and partitions and a handler that does nothing. */
async function bare(brokers: string[], client: KafkaClient, { appends, updates }: Load): Promise<number> {
  const prefix = `bare-${Date.now()}`;
  const partitions = await freshTopics(client, prefix);
  const rounds = appends.flatMap((records) => planRounds(records, partitions));
  const expected = rounds.reduce((sum, round) => sum + round.length, 0);
  const kafka = new kafkajs.Kafka({ clientId: 'bench', brokers, logLevel: kafkajs.logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: prefix, maxWaitTimeInMs: 100 });
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await Promise.all([consumer.connect(), producer.connect()]);
  await consumer.subscribe({
    topics: Object.keys(partitions).map((topic) => topicName(prefix, topic as Topic)),
    fromBeginning: true,
  });
  const joined = Promise.withResolvers<void>();
  consumer.on(consumer.events.GROUP_JOIN, () => joined.resolve());
  const done = Promise.withResolvers<void>();
  let seen = 0;
  await consumer.run({
    partitionsConsumedConcurrently: 8,
    eachBatch: async ({ batch }) => {
      seen += batch.messages.length;
      if (seen >= expected) done.resolve();
    },
  });
  await joined.promise;
  const startedAt = performance.now();
  for (const round of rounds) {
    await producer.sendBatch({
      acks: -1,
      compression: kafkajs.CompressionTypes.ZSTD,
      topicMessages: Object.entries(Object.groupBy(round, ({ topic }) => topic)).map(([topic, list]) => ({
        topic: topicName(prefix, topic as Topic),
        messages: (list as Outgoing[]).map(({ partition, key, value }) => ({
          partition,
          key: key as Buffer | null,
          value: value as Buffer,
        })),
      })),
    });
  }
  await done.promise;
  const seconds = (performance.now() - startedAt) / 1000;
  await Promise.all([consumer.disconnect(), producer.disconnect()]);
  return updates / seconds;
}

/** Updates a second through our writer and reader, from records to records; `apply` is called with each batch. */
async function ours(
  client: KafkaClient,
  load: Load,
  apply: (batch: LogBatch) => Promise<void>,
): Promise<number> {
  const prefix = `ours-${Date.now()}`;
  await freshTopics(client, prefix);
  const writer = createKafkaWriter(client, prefix);
  const stop = new AbortController();
  const joined = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  let seen = 0;
  const reader = createKafkaReader(client, {
    prefix,
    group: prefix,
    logger,
    onAssigned: () => joined.resolve(),
  });
  const reading = reader.run(async (batch) => {
    await apply(batch);
    seen += batch.entries.filter(({ record }) => record.kind !== 'marker').length;
    if (seen >= load.updates) done.resolve();
  }, stop.signal);
  await joined.promise;
  const startedAt = performance.now();
  for (const records of load.appends) await writer.append(records);
  await done.promise;
  const seconds = (performance.now() - startedAt) / 1000;
  stop.abort();
  await Promise.all([reading, writer.close()]);
  return load.updates / seconds;
}

async function materialised(client: KafkaClient, load: Load): Promise<number> {
  const directory = mkdtempSync(path.join(tmpdir(), 'bench-'));
  const store = await openEmbedded(directory);
  await migrate(store, null);
  const rate = await ours(
    client,
    load,
    createMaterialiser({ store, programId: decodeKey(load.programId) as Uint8Array }),
  );
  await store.close();
  rmSync(directory, { recursive: true, force: true });
  return rate;
}

/** Measures the log over a real broker against kafkajs alone on the same bytes; all run on this machine. */
export async function benchKafka(slots: number): Promise<Row[]> {
  const cluster = await startKafka();
  const client = createKafkaClient(
    { brokers: cluster.brokers, tls: false, sasl: null, clientId: 'bench' },
    logger,
  );
  try {
    const load = await makeLoad(slots);
    // The first run only warms up the broker and the compiler; it is not counted.
    await bare(cluster.brokers, client, load);
    const alone = await bare(cluster.brokers, client, load);
    const log = await ours(client, load, async () => {});
    const whole = await materialised(client, load);
    const rate = (value: number) => `${value.toFixed(0)} updates/s`;
    return [
      { name: 'kafkajs alone, same bytes', value: rate(alone), ok: null },
      { name: 'the log over Kafka', value: rate(log), ok: null },
      { name: 'the log / kafkajs alone', value: (log / alone).toFixed(2), ok: null },
      { name: 'the log and ClickHouse behind it', value: rate(whole), ok: null },
      {
        name: 'the log and ClickHouse / kafkajs alone (bar 0.5)',
        value: (whole / alone).toFixed(2),
        ok: whole / alone >= 0.5,
      },
    ];
  } finally {
    await client.close();
    await cluster.stop();
  }
}
