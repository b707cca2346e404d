import kafkajs from 'kafkajs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { assertLogOfProgram, readLogPosition } from '../../../ingest/log/kafka/position.ts';
import { createKafkaReader } from '../../../ingest/log/kafka/reader.ts';
import { ensureTopics, topicName } from '../../../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../../../ingest/log/kafka/writer.ts';
import { HISTORY_TOPICS } from '../../../ingest/log/port.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { openLog } from '../../../start/log.ts';
import { appliedRow } from '../../api/support/rows.ts';
import { awaited } from '../../support/awaited.ts';
import { freshDatabase } from '../../support/database.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { sharedBrokers } from '../../support/servers-of-run.ts';
import { key } from '../materialise/support/records.ts';
import { accountRecord, gapRecord, markerRecord, nameOf, transactionRecord } from '../support/records.ts';

const missing = brokerMissing();
const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');
const PARTITIONS = 2;
const OURS = key('ours');
const THEIRS = key('theirs');
const nothingApplied = async () => new Map();

/** What another program's first start leaves in a log: its history, closed. */
const BEGUN = [
  gapRecord(0n, 5n),
  gapRecord(0n, 0n, true),
  accountRecord(6n, 1),
  transactionRecord(6n, 2),
  markerRecord(6n),
];

describe.skipIf(missing !== null)(
  `the program that a log belongs to${missing === null ? '' : ` (${missing})`}`,
  () => {
    let brokers: string[];
    let ours: KafkaClient;
    let theirs: KafkaClient;
    /** A client of a version that does not write the program into records. */
    let older: KafkaClient;
    let prefix: string;
    let count = 0;

    beforeAll(async () => {
      brokers = await sharedBrokers();
      const clientOf = (program: string | null) =>
        createKafkaClient(
          {
            ...{ brokers, tls: false, sasl: null, clientId: 'test' },
            program: program === null ? null : decodeKey(program),
          },
          logger,
        );
      ours = clientOf(OURS);
      theirs = clientOf(THEIRS);
      older = clientOf(null);
    });
    afterAll(() => Promise.all([ours, theirs, older].map((client) => client.close())));
    beforeEach(async () => {
      count += 1;
      prefix = `of-program-${process.pid}-${Date.now()}-${count}`;
      await ensureTopics(ours, { prefix, partitions: PARTITIONS, replication: null, retentionMs: '-1' });
    });
    const running: (() => Promise<void>)[] = [];
    afterEach(() => Promise.all(running.splice(0).map((stop) => stop())));

    async function append(client: KafkaClient, records: readonly LogRecord[]): Promise<void> {
      const writer = createKafkaWriter(client, prefix);
      await writer.append(records);
      await writer.close();
    }

    /** Reads the whole log as a materialiser, until that ends or the test does. */
    function read(client: KafkaClient, group: string) {
      const stop = new AbortController();
      const names: string[] = [];
      const ended = createKafkaReader(client, { prefix, group: `${prefix}-${group}`, logger }).run(
        async ({ entries }) => void names.push(...entries.map(({ record }) => nameOf(record))),
        stop.signal,
      );
      running.push(async () => {
        stop.abort();
        await ended.catch(() => {});
      });
      return { names, ended };
    }

    /** The sentence about a log of two programs, with the place and time of the other's record. */
    const mixedWith = (other: string, program: string, at = String.raw`\S+/\d+ at offset \d+`) =>
      new RegExp(
        `^the log of KAFKA_TOPIC_PREFIX ${prefix} has records of the program ${other} \\(${at}, written 20\\S+Z\\), and PROGRAM_ID is ${program}: both programs have written to this log; neither can use it\\. Give ${program} a log of its own in another KAFKA_TOPIC_PREFIX with an empty database \\(CLICKHOUSE_URL\\), and run migrate`,
      );

    async function expectRefused(other: string, ofThem: KafkaClient, program: string): Promise<void> {
      const sentence = `the log of KAFKA_TOPIC_PREFIX ${prefix} is of the program ${other}, and PROGRAM_ID is ${program}: set PROGRAM_ID to the one that it is of, or give the other an empty database in CLICKHOUSE_URL (a directory in DATA_DIR, where that is not set) and, where KAFKA_BROKERS is set, a log of its own in KAFKA_TOPIC_PREFIX`;
      const refused = () => expect(readLogPosition(ofThem, prefix, nothingApplied)).rejects;
      // A broker that has just started first answers that it coordinates no group yet.
      await awaited(() => refused().toThrow(ConfigError));
      await refused().toThrow(sentence);
      await expect(assertLogOfProgram(ofThem, prefix, nothingApplied)).rejects.toThrow(sentence);
      // A process that has applied part of the log is told which other program wrote to it.
      const mixed = mixedWith(other, program);
      const begun = async () => new Map([['accounts/0', { next: 1n, slot: 1n, followed: 1n }]]);
      await expect(readLogPosition(ofThem, prefix, begun)).rejects.toThrow(mixed);
      await expect(assertLogOfProgram(ofThem, prefix, begun)).rejects.toThrow(mixed);
      const { names, ended } = read(ofThem, program);
      await expect(ended).rejects.toThrow(mixed);
      expect(names).toEqual([]);
    }

    test("a process of another program is refused the log's position and applies nothing of it", async () => {
      await append(theirs, BEGUN);
      await expectRefused(THEIRS, ours, OURS);
      expect(await readLogPosition(theirs, prefix, nothingApplied)).toEqual({ slot: 6n, followed: 6n });
      const { names } = read(theirs, 'own');
      // Two gaps in each partition of transactions, the marker in all four, and the two that have a key.
      await awaited(() => expect(names).toHaveLength(2 * 2 + 4 + 2));
    });

    test('the last record that retention leaves in each partition is enough to refuse another program', async () => {
      await append(theirs, BEGUN);
      const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
      await admin.connect();
      for (const topic of HISTORY_TOPICS.map((one) => topicName(prefix, one))) {
        const partitions = (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => ({
          partition,
          offset: String(Number(high) - 1),
        }));
        await admin.deleteTopicRecords({ topic, partitions });
      }
      await admin.disconnect();
      await expectRefused(THEIRS, ours, OURS);
    });

    test('a log begun by a start that was killed before all partitions had records is refused to another program', async () => {
      await append(theirs, [gapRecord(0n, 5n)]);
      await expectRefused(THEIRS, ours, OURS);
      expect(await readLogPosition(theirs, prefix, nothingApplied)).toBe(null);
    });

    test('a log written without program names belongs to the program that continues it; older readers read it all', async () => {
      await append(older, BEGUN);
      expect(await readLogPosition(ours, prefix, nothingApplied)).toEqual({ slot: 6n, followed: 6n });
      await assertLogOfProgram(ours, prefix, nothingApplied);
      await append(ours, [accountRecord(7n, 3), markerRecord(7n)]);
      await expectRefused(OURS, theirs, THEIRS);
      const expected = [...BEGUN, ...BEGUN.slice(0, 2), ...Array(3).fill(markerRecord(6n))]
        .concat(accountRecord(7n, 3), ...Array(4).fill(markerRecord(7n)))
        .map((record) => nameOf(record as LogRecord));
      for (const reading of [read(older, 'older'), read(ours, 'newer')])
        await awaited(() => expect(reading.names.toSorted()).toEqual(expected.toSorted()));
    });

    test('a reader ends before the first record of another program when both programs write to one log', async () => {
      await append(ours, BEGUN);
      const { names, ended } = read(ours, 'own');
      await awaited(() => expect(names).toHaveLength(2 * 2 + 4 + 2));
      const ends = await Promise.all(
        HISTORY_TOPICS.map((topic) => topicName(prefix, topic)).map(async (topic) =>
          (await ours.offsets(topic)).map(({ partition, high }) => `${topic}/${partition} at offset ${high}`),
        ),
      );
      const refused = expect(ended).rejects.toThrow(mixedWith(THEIRS, OURS, `(${ends.flat().join('|')})`));
      await append(theirs, [markerRecord(7n)]);
      await refused;
      expect(names).not.toContain('marker 7');
    });

    test("npm start refuses another program's log before it writes to the database, and opens its own", async () => {
      await append(theirs, BEGUN);
      const store = await freshDatabase();
      running.push(() => store.close());
      const configOf = (program: string) =>
        readConfig({
          ...{ KAFKA_BROKERS: brokers.join(','), KAFKA_TOPIC_PREFIX: prefix },
          ...{ KAFKA_PARTITIONS: String(PARTITIONS), PROGRAM_ID: program },
        });
      await expect(openLog(configOf(OURS), store, logger)).rejects.toThrow('KAFKA_TOPIC_PREFIX');
      expect(await store.query('SELECT * FROM log_partitions')).toEqual([]);
      // Also with something applied: else pollers would write readings before the reader ends.
      await store.insert('applied', [appliedRow('transactions', 0, { log_offset: '0' })]);
      await expect(openLog(configOf(OURS), store, logger)).rejects.toThrow(mixedWith(THEIRS, OURS));
      expect(await store.query('SELECT * FROM log_partitions')).toEqual([]);
      const log = await openLog(configOf(THEIRS), store, logger);
      expect(await log.position()).toEqual({ slot: 6n, followed: 6n });
      await log.close();
    });
  },
);
