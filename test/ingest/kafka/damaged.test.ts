import { createHash } from 'node:crypto';
import zlib from 'node:zlib';
import kafkajs from 'kafkajs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { logRanges, readRanges } from '../../../ingest/log/kafka/offset-ranges.ts';
import { readLogPosition } from '../../../ingest/log/kafka/position.ts';
import { createKafkaReader } from '../../../ingest/log/kafka/reader.ts';
import { ensureTopics, topicName } from '../../../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../../../ingest/log/kafka/writer.ts';
import type { LogBatch } from '../../../ingest/log/port.ts';
import { encodeRecord } from '../../../ingest/log/record-codec.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { awaited } from '../../support/awaited.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { sharedBrokers } from '../../support/servers-of-run.ts';
import { markerRecord, nameOf, transactionRecord } from '../support/records.ts';

const { CompressionCodecs, CompressionTypes } = kafkajs;

interface Codec {
  compress(encoder: { buffer: Buffer }): Promise<Buffer>;
  decompress(buffer: Buffer): Promise<Buffer>;
}
const ofZstd = CompressionCodecs[CompressionTypes.ZSTD] as () => Codec;

/** Data as random as amounts and keys: a flipped bit in it looks as valid as the right one. */
const PAYLOAD = createHash('shake256', { outputLength: 600 }).update('damaged').digest();
const record = { ...transactionRecord(2n, 2), payload: PAYLOAD };

const flipped = (bytes: Buffer, bit: number): Buffer => {
  const other = Buffer.from(bytes);
  other[bit >> 3] = (other[bit >> 3] as number) ^ (1 << (bit & 7));
  return other;
};

test('no flip of one bit in a compressed batch makes it unpack to other bytes than were sent', async () => {
  const sent = encodeRecord(record);
  const packed = await ofZstd().compress({ buffer: sent });
  expect(await ofZstd().decompress(packed)).toEqual(sent);
  const others: number[] = [];
  for (let bit = 0; bit < packed.length * 8; bit += 1) {
    const read = await ofZstd()
      .decompress(flipped(packed, bit))
      .catch(() => sent);
    if (!read.equals(sent)) others.push(bit);
  }
  expect(others).toEqual([]);
});

test('a batch compressed without a checksum is still read', async () => {
  const sent = encodeRecord(record);
  expect(await ofZstd().decompress(zlib.zstdCompressSync(sent))).toEqual(sent);
});

const missing = brokerMissing();
const nothingApplied = async () => new Map();

describe.skipIf(missing !== null)(`a damaged batch${missing === null ? '' : ` (${missing})`}`, () => {
  let client: KafkaClient;
  let prefix: string;
  let count = 0;
  let isDamaged = true;
  /** The batch was damaged in transit only: it is intact when it is fetched again. */
  let isOnTheWay = false;
  /** How often the damaged batch was unpacked in vain. */
  let tries = 0;
  const told: string[] = [];
  const tell = ({ error }: { error?: string }) => void (error !== undefined && told.push(error));
  const logger = Object.assign(Object.create(createLogger('silent', 'test')), { error: tell });

  beforeAll(async () => {
    client = createKafkaClient(
      { brokers: await sharedBrokers(), tls: false, sasl: null, clientId: 'test' },
      createLogger('silent', 'test'),
    );
    CompressionCodecs[CompressionTypes.ZSTD] = () => ({
      ...ofZstd(),
      decompress: async (buffer: Buffer) => {
        const isIt = isDamaged && zlib.zstdDecompressSync(buffer).includes(PAYLOAD);
        if (isIt) tries += 1;
        if (isIt && isOnTheWay) isDamaged = false;
        return ofZstd().decompress(isIt ? flipped(buffer, buffer.length * 4) : buffer);
      },
    });
  });
  afterAll(async () => {
    CompressionCodecs[CompressionTypes.ZSTD] = ofZstd;
    await client.close();
  });
  beforeEach(async () => {
    count += 1;
    tries = 0;
    isDamaged = true;
    isOnTheWay = false;
    prefix = `damaged-${process.pid}-${Date.now()}-${count}`;
    await ensureTopics(client, { prefix, partitions: 1, replication: null, retentionMs: '-1' });
    const writer = createKafkaWriter(client, prefix);
    await writer.append([transactionRecord(1n, 1), markerRecord(1n)]);
    await writer.append([record]);
    await writer.append([transactionRecord(3n, 3), markerRecord(3n)]);
    await writer.close();
  });
  afterEach(() => void told.splice(0));

  const sentence = () =>
    `${topicName(prefix, 'transactions')}/0 cannot be read on from offset 0: a batch is not as it was packed`;
  const read: string[] = [];
  const apply = async ({ topic, entries }: LogBatch) =>
    void (topic === 'transactions' && read.push(...entries.map((entry) => nameOf(entry.record))));
  const ALL = ['transaction 1', 'marker 1', 'transaction 2', 'transaction 3', 'marker 3'];
  beforeEach(() => void read.splice(0));

  test('is reported by the reader with its place and fetched again; nothing is applied until it is intact', async () => {
    const ends: string[] = [];
    const stop = new AbortController();
    const reader = createKafkaReader(client, {
      ...{ prefix, group: `${prefix}-g`, logger },
      onEnded: ({ message }) => ends.push(message),
    });
    const reading = reader.run(apply, stop.signal);
    await awaited(() => expect(ends.length).toBeGreaterThan(1));
    for (const words of [...ends, ...told]) expect(words).toContain(sentence());
    expect(told.length).toBeGreaterThan(1);
    expect(read).toEqual([]);
    // Each failed fetch unpacks it twice, with other batches and alone; one more fetch may be under way.
    expect(tries).toBeLessThanOrEqual(2 * (ends.length + 1));
    isDamaged = false;
    await awaited(() => expect(read).toEqual(ALL));
    stop.abort();
    await reading;
  });

  test("is not taken for the end of the log: reading the log's position fails", async () => {
    const position = () => readLogPosition(client, prefix, nothingApplied);
    await expect(position()).rejects.toThrow(sentence());
    isDamaged = false;
    expect(await position()).toEqual({ slot: 3n, followed: 3n });
  });

  test('ends a replay with an error that names its place; the next replay reads it once it is intact', async () => {
    const ranges = await logRanges(client, prefix);
    const { signal } = new AbortController();
    const replayed = () => readRanges(client, { prefix, ranges, logger, signal }, apply);
    await expect(replayed()).rejects.toThrow(sentence());
    expect(read).toEqual([]);
    isDamaged = false;
    await replayed();
    expect(read).toEqual(ALL);
  });

  test('in transit only is read on the next fetch, without an error', async () => {
    const stop = new AbortController();
    const reader = createKafkaReader(client, {
      ...{ prefix, group: `${prefix}-g`, logger },
      onEnded: ({ message }) => told.push(message),
    });
    isOnTheWay = true;
    const reading = reader.run(apply, stop.signal);
    await awaited(() => expect(read).toEqual(ALL));
    expect([tries, told]).toEqual([1, []]);
    stop.abort();
    await reading;
  });
});
