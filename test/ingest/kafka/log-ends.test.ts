import { expect, test } from 'vitest';
import type { Appended, WireMessage } from '../../../ingest/log/kafka/cluster.ts';
import { createLogEnds } from '../../../ingest/log/kafka/log-ends.ts';
import { createKafkaWriter } from '../../../ingest/log/kafka/writer.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { accountRecord } from '../support/records.ts';

const TOPIC = 'x-accounts';

/** A log of one partition a topic, whose end can be cut off and whose connections can break. */
function cutLog() {
  const log = { end: 10n, seen: null as bigint | null, isBroken: false, sends: 0 };
  const offsets = async () => [{ partition: 0, low: 0n, high: log.seen ?? log.end }];
  const send = async (messages: readonly WireMessage[]): Promise<Appended[]> => {
    if (log.isBroken) throw new Error('the connection is lost');
    log.sends += 1;
    const [{ topic = '' } = {}] = messages;
    const offset = log.end;
    log.end += BigInt(messages.length);
    return [{ topic, partition: 0, offset }];
  };
  const client = {
    offsets,
    partitionCounts: async (topics: readonly string[]) => new Map(topics.map((topic) => [topic, 1])),
    producer: async () => ({ send, close: async () => {} }),
  };
  return { log, client };
}

test('a writer that reconnects to a log that has lost its end reports that and sends nothing more', async () => {
  const { log, client } = cutLog();
  const told = Promise.withResolvers<never>();
  const writer = createKafkaWriter(client, 'x', told.reject);
  await writer.append([accountRecord(1n, 1), accountRecord(1n, 2)]);
  log.isBroken = true;
  await expect(writer.append([accountRecord(2n, 1)])).rejects.toThrow('connection is lost');
  Object.assign(log, { isBroken: false, end: 11n });
  void writer.append([accountRecord(2n, 1)]);
  await expect(told.promise).rejects.toThrow(
    /lost its end: x-accounts\/0 had all before 12 from this process, and goes on at 11\. Nothing more/,
  );
  expect(log.sends).toBe(1);
});

test('an append that lands before the known end of the log fails, also without a reconnect', async () => {
  const { log, client } = cutLog();
  const writer = createKafkaWriter(client, 'x');
  await writer.append([accountRecord(1n, 1)]);
  log.end = 5n;
  await expect(writer.append([accountRecord(2n, 1)])).rejects.toThrow('goes on at 5');
});

test('dead letters and readings are still appended where their topic has lost its end, also after a reconnect', async () => {
  const letter: LogRecord = {
    ...({ kind: 'dead-letter', source: 'stream', what: 'event', where: 'x', reason: 'r' } as const),
    ...{ slot: 1n, bytes: new Uint8Array(3) },
  };
  const reading: LogRecord = { kind: 'reading', readAt: 7, reading: { type: 'currencies', items: [] } };
  for (const record of [letter, reading]) {
    const { log, client } = cutLog();
    const writer = createKafkaWriter(client, 'x');
    await writer.append([record]);
    log.end = 3n;
    await writer.append([record]);
    log.isBroken = true;
    await expect(writer.append([record])).rejects.toThrow('connection is lost');
    Object.assign(log, { isBroken: false, end: 0n });
    await writer.append([record]);
    expect(log.end).toBe(1n);
  }
});

test('an older end is an error only if it persists, and an acknowledgement without an offset is ignored', async () => {
  const { log, client } = cutLog();
  const ends = createLogEnds(client, 1);
  ends.appended(TOPIC, 0, 8n, 2);
  ends.appended(TOPIC, 0, -1n, 2);
  log.seen = 3n;
  const standing = ends.assertNotTruncated();
  log.seen = null;
  await expect(standing).resolves.toBeUndefined();
  log.seen = 3n;
  await expect(ends.assertNotTruncated()).rejects.toThrow('lost its end');
});
