import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { assertLogReachesApplied } from '../../../ingest/log/kafka/log-identity.ts';
import { readLogPosition } from '../../../ingest/log/kafka/position.ts';
import { createKafkaReader } from '../../../ingest/log/kafka/reader.ts';
import { ensureTopics, topicName } from '../../../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../../../ingest/log/kafka/writer.ts';
import { OffsetGapError } from '../../../ingest/log/offset-gap.ts';
import type { LogBatch } from '../../../ingest/log/port.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { notReached } from '../../../runtime/process/not-reached.ts';
import { awaited } from '../../support/awaited.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { sharedBrokers } from '../../support/servers-of-run.ts';
import { accountRecord, gapRecord, markerRecord, nameOf, transactionRecord } from '../support/records.ts';

const missing = brokerMissing();
const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');
const PARTITIONS = 3;
const nothingApplied = async () => new Map();

describe.skipIf(missing !== null)(`the log on Kafka${missing === null ? '' : ` (${missing})`}`, () => {
  let client: KafkaClient;
  let prefix: string;
  let count = 0;
  const readers: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    client = createKafkaClient(
      { brokers: await sharedBrokers(), tls: false, sasl: null, clientId: 'test' },
      logger,
    );
  });
  afterAll(() => client.close());
  afterEach(async () => {
    await Promise.all(readers.splice(0).map((reader) => reader.stop()));
  });

  async function freshTopics(): Promise<void> {
    count += 1;
    prefix = `test-${process.pid}-${Date.now()}-${count}`;
    await ensureTopics(client, { prefix, partitions: PARTITIONS, replication: null, retentionMs: '-1' });
  }

  /** Reads as a member of a group, into `batches`, until stopped. */
  function read(group: string, apply: (batch: LogBatch) => Promise<void> = async () => {}) {
    const stop = new AbortController();
    const batches: LogBatch[] = [];
    const seen = { assigned: new Map<string, readonly number[]>() as ReadonlyMap<string, readonly number[]> };
    const reader = createKafkaReader(client, {
      prefix,
      group,
      logger,
      onAssigned: (assignment) => {
        seen.assigned = assignment;
      },
    });
    /** Records may be delivered again where the group lost its member for a while. */
    const places = new Set<string>();
    const running = reader.run(async (batch) => {
      await apply(batch);
      const entries = batch.entries.filter(({ offset }) => {
        const place = `${batch.topic}/${batch.partition}/${offset}`;
        const isNew = !places.has(place);
        places.add(place);
        return isNew;
      });
      batches.push({ ...batch, entries });
    }, stop.signal);
    const self = {
      batches,
      assigned: () => seen.assigned,
      names: () => batches.flatMap(({ entries }) => entries.map(({ record }) => nameOf(record))),
      stop: async () => {
        stop.abort();
        await running;
      },
    };
    readers.push(self);
    return self;
  }

  test('topics are created once, and creating them again changes nothing', async () => {
    await freshTopics();
    const settings = { prefix, partitions: 9, replication: null, retentionMs: '-1' };
    expect(await ensureTopics(client, settings)).toEqual([]);
    expect(
      (await client.partitionCounts([topicName(prefix, 'accounts')])).get(topicName(prefix, 'accounts')),
    ).toBe(PARTITIONS);
  });

  test('topics that the brokers refuse to create are a ConfigError with their reason and the variables', async () => {
    const settings = { prefix: `${prefix}-none`, partitions: 9, replication: 100, retentionMs: '-1' };
    const made = ensureTopics(client, settings).catch(notReached('KAFKA_BROKERS'));
    await expect(made).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringMatching(
        /^the brokers make no topics with KAFKA_REPLICATION 100 and KAFKA_PARTITIONS 9 \(Replication-factor .*\)$/,
      ),
    });
  });

  test('appended records are read back completely and in order, with markers on every partition', async () => {
    await freshTopics();
    const writer = createKafkaWriter(client, prefix);
    for (let slot = 1n; slot <= 5n; slot += 1n) {
      const accounts = Array.from({ length: 20 }, (_, name) => accountRecord(slot, name));
      await writer.append([...accounts, transactionRecord(slot, Number(slot)), markerRecord(slot)]);
    }
    await writer.close();
    const reader = read('one');
    await awaited(() => expect(reader.names()).toHaveLength(5 * 21 + 5 * 2 * PARTITIONS));
    for (const { topic, partition } of reader.batches) {
      const entries = reader.batches
        .filter((batch) => batch.topic === topic && batch.partition === partition)
        .flatMap((batch) => batch.entries);
      expect(entries.map(({ offset }) => offset)).toEqual(entries.map((_, at) => BigInt(at)));
      const slots = entries.flatMap(({ record }) =>
        'slot' in record && record.slot !== null ? [record.slot] : [],
      );
      expect(slots).toEqual(slots.toSorted((a, b) => Number(a - b)));
      const markers = entries.flatMap(({ record }) => (record.kind === 'marker' ? [record.slot] : []));
      expect(markers).toEqual([1n, 2n, 3n, 4n, 5n]);
    }
  });

  test('a record larger than a broker accepts is read back whole and in its place', async () => {
    await freshTopics();
    const writer = createKafkaWriter(client, prefix);
    const large = accountRecord(1n, 1, new Uint8Array(2_500_000).fill(7));
    await writer.append([large, accountRecord(2n, 1), markerRecord(2n)]);
    await writer.close();
    const reader = read('one');
    const accounts = () =>
      reader.batches.flatMap(({ entries }) =>
        entries.flatMap(({ record }) => (record.kind === 'account' ? [record] : [])),
      );
    await awaited(() => expect(accounts().map(({ slot }) => slot)).toEqual([1n, 2n]));
    expect(Buffer.compare(accounts()[0]?.data ?? Buffer.alloc(0), large.data)).toBe(0);
  });

  test('a failed batch is handed out again, and applied records are not read by the next member', async () => {
    await freshTopics();
    const writer = createKafkaWriter(client, prefix);
    await writer.append([accountRecord(1n, 1), markerRecord(1n)]);
    let tries = 0;
    const first = read('group', async () => {
      tries += 1;
      if (tries < 3) throw new Error('not now');
    });
    await awaited(() => expect(first.names()).toHaveLength(1 + 2 * PARTITIONS));
    await first.stop();
    await writer.append([accountRecord(2n, 2), gapRecord(3n, 4n)]);
    await writer.close();
    const second = read('group');
    await awaited(() => expect(second.names()).toHaveLength(1 + PARTITIONS));
    expect(new Set(second.names())).toEqual(new Set(['account 2', 'gap 3']));
  });

  test('the whole log is read again when the database was lost, despite the offsets its group committed', async () => {
    await freshTopics();
    const writer = createKafkaWriter(client, prefix);
    await writer.append([accountRecord(1n, 1), transactionRecord(1n, 1), markerRecord(1n)]);
    let database = new Map<string, bigint>();
    const keep = async ({ topic, partition, entries }: LogBatch) => {
      const place = `${topic}/${partition}`;
      const next = (database.get(place) ?? -1n) + 1n;
      const first = entries[0]?.offset as bigint;
      if (first > next) throw new OffsetGapError(place, next, first);
      database.set(place, entries.at(-1)?.offset as bigint);
    };
    const first = read('lost', keep);
    await awaited(() => expect(first.names()).toHaveLength(2 + 2 * PARTITIONS));
    await first.stop();
    database = new Map();
    await writer.append([markerRecord(2n)]);
    await writer.close();
    const second = read('lost', keep);
    await awaited(() => expect(second.names()).toHaveLength(2 + 4 * PARTITIONS));
    expect(new Set(second.names())).toEqual(new Set([...first.names(), 'marker 2']));
  });

  test('a log that lost its end and grew past the applied offset is recognised by later write times', async () => {
    await freshTopics();
    const writer = createKafkaWriter(client, prefix);
    const append = async (slot: bigint) => {
      await writer.append([accountRecord(slot, 1)]);
      const now = Date.now();
      await awaited(() => expect(Date.now()).toBeGreaterThan(now));
    };
    await append(1n);
    await append(2n);
    const reader = read('identity');
    await awaited(() => expect(reader.names()).toHaveLength(2));
    const { topic, partition } = reader.batches[0] as LogBatch;
    const writtenAt = Math.max(...reader.batches.map((batch) => batch.writtenAt as number));
    const reaches = (offset: bigint) =>
      assertLogReachesApplied(
        client,
        prefix,
        'x',
        new Map([[`${topic}/${partition}`, { offset, writtenAt }]]),
        1,
      );
    await expect(reaches(1n)).resolves.toBeUndefined();
    await append(3n);
    await append(4n);
    await writer.close();
    await expect(reaches(1n)).resolves.toBeUndefined();
    // As if the log had been cut off after offset 1, when it was applied up to offset 3.
    await expect(reaches(3n)).rejects.toThrow(/has grown past it: .* but 2 was written later/);
  });

  test('a second member takes partitions over, and the first no longer owns them', async () => {
    await freshTopics();
    const writer = createKafkaWriter(client, prefix);
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<LogBatch>();
    const first = read('shared', async (batch) => {
      if (batch.topic !== 'accounts') return;
      begun.resolve(batch);
      await held.promise;
      if (!batch.owned()) throw new Error('taken away');
    });
    await writer.append(Array.from({ length: 30 }, (_, name) => accountRecord(1n, name)));
    const batch = await begun.promise;
    expect(batch.owned()).toBe(true);
    const second = read('shared');
    await awaited(() => expect(batch.owned()).toBe(false));
    held.resolve();
    await awaited(() => expect(second.assigned().size).toBeGreaterThan(0));
    await awaited(() => {
      const all = new Set([...first.names(), ...second.names()]);
      expect(all.size).toBe(30);
    });
    // The partitions that the first reader has left are assigned anew.
    await writer.append(Array.from({ length: 30 }, (_, name) => accountRecord(2n, name)));
    await writer.close();
    await awaited(() => {
      const later = first.batches.filter(({ topic }) => topic === 'accounts').at(-1);
      expect(later?.assignment).toBeGreaterThan(batch.assignment as number);
    });
  });

  test('the position is the lowest last marker, even 1,500 records before the end', async () => {
    await freshTopics();
    expect(await readLogPosition(client, prefix, nothingApplied)).toBe(null);
    const writer = createKafkaWriter(client, prefix);
    await writer.append([accountRecord(6n, 1), markerRecord(6n)]);
    await writer.append([accountRecord(7n, 1), markerRecord(7n)]);
    await writer.append(Array.from({ length: 1_500 }, (_, name) => accountRecord(8n, name)));
    await writer.close();
    expect(await readLogPosition(client, prefix, nothingApplied)).toEqual({ slot: 7n, followed: 7n });
  });

  test('the position is found past messages that are not records, between markers and at the end', async () => {
    await freshTopics();
    const writer = createKafkaWriter(client, prefix);
    await writer.append([markerRecord(6n)]);
    const producer = await client.producer();
    const topics = ['accounts', 'transactions'] as const;
    const send = async (value: Uint8Array | null) => {
      const message = { partition: 0, key: null, value: value as Uint8Array };
      await producer.send(topics.map((topic) => ({ ...message, topic: topicName(prefix, topic) })));
    };
    for (const text of ['a', 'few', 'by', 'hand', 'between']) await send(Buffer.from(text));
    await writer.append([markerRecord(7n)]);
    await writer.close();
    await send(null);
    await send(Buffer.from('at the end'));
    await producer.close();
    expect(await readLogPosition(client, prefix, nothingApplied)).toEqual({ slot: 7n, followed: 7n });
  });
});
