import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Writable } from 'node:stream';
import { KafkaJSNonRetriableError, KafkaJSNumberOfRetriesExceeded } from 'kafkajs';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openPool } from '../../api/postgres/pool.ts';
import { openKafka } from '../../ingest/log/kafka/open.ts';
import { ensureTopics } from '../../ingest/log/kafka/topics.ts';
import { readConfig } from '../../runtime/config/config.ts';
import { BrokenAnswerError, ConfigError } from '../../runtime/errors.ts';
import { notReached } from '../../runtime/process/not-reached.ts';
import { startCommand } from '../ingest/support/command-child.ts';
import { freePort } from '../support/free-port.ts';

test('an unreachable broker fails with a ConfigError that names KAFKA_BROKERS', async () => {
  const config = readConfig({ KAFKA_BROKERS: `127.0.0.1:${await freePort()}` });
  const quiet = pino(new Writable({ write: (_line, _encoding, done) => done() }));
  const opened = ensureTopics(openKafka(config, quiet), {
    prefix: 'none',
    partitions: 1,
    replication: null,
    retentionMs: '-1',
  });
  await expect(opened.catch(notReached('KAFKA_BROKERS', ', or unset it'))).rejects.toMatchObject({
    name: 'ConfigError',
    message: 'the server of KAFKA_BROKERS cannot be reached (refused): start it, or unset it',
  });
});

test('a certificate file in POSTGRES_URL that cannot be read fails with a ConfigError that says so', async () => {
  const failed = async (file: string) => {
    const db = openPool(`postgres://u:p@127.0.0.1:1/x?sslmode=verify-full&sslrootcert=${file}`);
    await (async () => db.query('SELECT 1'))().catch(notReached('POSTGRES_URL'));
  };
  for (const file of ['/no/such.pem', import.meta.dirname])
    await expect(failed(file)).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringMatching(/^POSTGRES_URL names a file that cannot be read: E/),
    });
});

test.each([
  ['no such host', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }],
  ['no answer', { code: 'ENOENT', syscall: 'connect' }],
  ['no TLS answers', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }],
])('an unreachable server is reported with its variable and the reason: %s', (words, details) => {
  const failure = Object.assign(new Error('failed'), details);
  expect(() => notReached('POSTGRES_URL')(failure)).toThrow(
    `the server of POSTGRES_URL cannot be reached (${words}): start it`,
  );
});

test.each(['28P01', '3D000', '516'])('a refused login (%s) is reported with its variable', (code) => {
  const failure = Object.assign(new Error('no such user'), { code });
  expect(() => notReached('POSTGRES_URL')(failure)).toThrow(/^the server of POSTGRES_URL refuses the user/);
});

test('an error that is not about reaching a server is thrown unchanged', () => {
  const failure = new Error('another', { cause: new Error('and its cause') });
  expect(() => notReached('CLICKHOUSE_URL')(failure)).toThrow(failure);
});

test('a server that gives no answer of its kind is reported with its variable, and nothing of the answer is quoted', () => {
  const failure = new BrokenAnswerError('the answer broke off: <secret>');
  const message =
    'the server of CLICKHOUSE_URL gives no whole answer of its kind: check its host and port, and a proxy in between';
  expect(() => notReached('CLICKHOUSE_URL')(failure)).toThrow(new ConfigError(message));
});

test('ingest without CLICKHOUSE_URL exits with 1 and says so before it connects to Kafka, stream or RPC', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { ended } = startCommand('ingest', {
    KAFKA_BROKERS: address,
    YELLOWSTONE_ENDPOINT: address,
    SOLANA_RPC_URL: `http://${address}`,
  });
  const { code, err } = await ended;
  expect(err).toBe('CLICKHOUSE_URL is not set: the index is kept on a ClickHouse server\n');
  expect(code).toBe(1);
  expect(connections).toBe(0);
});

test.each([
  ['KafkaJSSASLAuthenticationError', 'SASL PLAIN authentication failed'],
  ['KafkaJSProtocolError', 'The broker does not support the requested SASL mechanism'],
  ['KafkaJSConnectionClosedError', 'Closed connection'],
])(
  'brokers that refuse the login or close the connection are reported with their message (%s)',
  (name, words) => {
    const failure = Object.assign(new Error(words), { name });
    // The client throws the last of many failures, or one that it does not retry, inside an error of its own.
    const last = new KafkaJSNumberOfRetriesExceeded(failure, { retryCount: 8, retryTime: 2_000 });
    const atOnce = Object.assign(new KafkaJSNonRetriableError(failure), { cause: failure });
    for (const thrown of [failure, last, atOnce])
      expect(() => notReached('KAFKA_BROKERS')(thrown)).toThrow(
        `the brokers of KAFKA_BROKERS let nobody in (${words}): npm run doctor says what to do`,
      );
    const other = Object.assign(new Error('No such topic'), { name: 'KafkaJSProtocolError' });
    expect(() => notReached('KAFKA_BROKERS')(other)).toThrow(other);
  },
);
