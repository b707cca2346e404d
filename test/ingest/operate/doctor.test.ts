import net from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { checksOf } from '../../../ingest/operate/doctor/checks.ts';
import { checkKafka } from '../../../ingest/operate/doctor/kafka.ts';
import { runChecks } from '../../../ingest/operate/doctor/report.ts';
import {
  CLICKHOUSE_ADVICE,
  POSTGRES_ADVICE,
  withAdvice,
} from '../../../ingest/operate/doctor/server-advice.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { type AnsweringServer, deadUrl, serveAnswers } from '../../support/answering.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { loginBrokers, sharedBrokers } from '../../support/servers-of-run.ts';

let server: AnsweringServer | null = null;
afterEach(() => server?.close());

const { signal } = new AbortController();

async function diagnose(env: Record<string, string>): Promise<{ failed: number; lines: string[] }> {
  const lines: string[] = [];
  const failed = await runChecks(checksOf(readConfig(env)), (line) => lines.push(line), signal);
  return { failed, lines };
}

test('without configuration every endpoint is unset and nothing fails', async () => {
  const { failed, lines } = await diagnose({});
  expect(failed).toBe(0);
  expect(lines).toHaveLength(10);
  for (const line of lines) expect(line).toMatch(/^unset {3}[A-Z_]+$/);
});

test('each endpoint has a line: ok where it answers soundly, else failed with the reason, and no secret shows', async () => {
  server = await serveAnswers(({ path }) => {
    if (path === '/perp/info') {
      return { body: { marginSummary: { accountValue: '0.0', totalNtlPos: '0.0' }, time: 1 } };
    }
    if (path === '/options/public/get_all_currencies') return { body: { id: 1, result: [] } };
    if (path === '/catalogue/pairs') return { body: '<html>\u001b[2J</html>' };
    return { status: 503, body: 'busy' };
  });
  const dead = await deadUrl();
  const { failed, lines } = await diagnose({
    PERP_VENUE_URL: `${server.url}/perp`,
    OPTIONS_VENUE_URL: `${server.url}/options`,
    LAUNCHPAD_CATALOGUE_URL: `${server.url}/catalogue`,
    PRICE_URL: `${server.url}/price`,
    SOLANA_RPC_URL: dead.replace('http://', 'http://user:hunter2@'),
    CLICKHOUSE_URL: `${dead.replace('http://', 'http://user:hunter2@')}/x`,
    POSTGRES_URL: `${dead.replace('http://', 'postgres://user:hunter2@')}/x`,
    YELLOWSTONE_ENDPOINT: dead,
    KAFKA_BROKERS: dead.replace('http://', ''),
  });
  const of = (variable: string) => lines.find((line) => line.includes(` ${variable} `));
  expect(of('PERP_VENUE_URL')).toMatch(/^ok .*answers an account state$/);
  expect(of('OPTIONS_VENUE_URL')).toMatch(/^ok .*0 currencies with options$/);
  expect(of('LAUNCHPAD_CATALOGUE_URL')).toMatch(/^failed .*not JSON$/);
  expect(of('PRICE_URL')).toMatch(/^failed .*answered 503$/);
  for (const variable of ['SOLANA_RPC_URL', 'CLICKHOUSE_URL', 'POSTGRES_URL', 'YELLOWSTONE_ENDPOINT']) {
    expect(of(variable)).toMatch(/^failed /);
  }
  for (const variable of ['KAFKA_BROKERS', 'CLICKHOUSE_URL', 'POSTGRES_URL']) {
    expect(of(variable)).toMatch(/refused.*: does the (server|broker) run, and (are|is) host.*right\?$/i);
  }
  expect(failed).toBe(7);
  expect(lines.join('\n')).not.toContain('hunter2');
});

test('a public URL without TRUST_PROXY fails: all clients would count as one address', async () => {
  const { failed, lines } = await diagnose({ PUBLIC_URL: 'https://api.example' });
  expect(failed).toBe(1);
  expect(lines.at(-1)).toMatch(/^failed {2}TRUST_PROXY .*all clients count as one address/);
});

test('a ClickHouse with replicated or shared tables and no CLICKHOUSE_CLUSTER gets a second line, a note', async () => {
  const lineOf = async (engine: string, more: Record<string, string> = {}) => {
    server = await serveAnswers(({ query }) => ({
      headers: { 'X-ClickHouse-Query-Id': 'any' },
      body: query.get('query') === 'SELECT version()' ? '26.7.1.1\n' : `Atomic\n${engine}\n`,
    }));
    const { failed, lines } = await diagnose({ CLICKHOUSE_URL: `${server.url}/x`, ...more });
    expect(failed).toBe(0);
    expect(server.asked.slice(1).every(({ query }) => query.get('param_database') === 'x')).toBe(true);
    await server.close();
    const own = lines.filter((line) => line.includes(' CLICKHOUSE_URL '));
    expect(own[0]).toMatch(/^ok .*ClickHouse 26\.7\.1\.1$/);
    return own.slice(1).join();
  };
  expect(await lineOf('ReplacingMergeTree')).toBe('');
  expect(await lineOf('SharedReplacingMergeTree')).toMatch(
    /^note .*never tried there: docs\/operations\.md, "ClickHouse Cloud"$/,
  );
  expect(await lineOf('ReplicatedReplacingMergeTree')).toMatch(
    /^note .*Name one replica.* "Replicas of ClickHouse"$/,
  );
  expect(await lineOf('ReplicatedReplacingMergeTree', { CLICKHOUSE_CLUSTER: 'main' })).toBe('');
});

test('a proxy that takes the headers of ClickHouse away fails: no answer would count', async () => {
  server = await serveAnswers(() => ({ body: '26.7.1.1\n' }));
  const { failed, lines } = await diagnose({ CLICKHOUSE_URL: `${server.url}/x` });
  expect(failed).toBe(1);
  expect(lines.join('\n')).toMatch(/^failed +CLICKHOUSE_URL .*no X-ClickHouse header/m);
});

test('control characters in an error are replaced before it is printed', async () => {
  const lines: string[] = [];
  const run = async () => {
    throw new Error('a\u001b[2Jb\nok      FAKE');
  };
  await runChecks([{ variable: 'X', run }], (line) => lines.push(line), signal);
  expect(lines).toEqual(['failed  X  a [2Jb ok      FAKE']);
});

test('checkKafka tells a broker from a web server and from a server that closes the connection', async () => {
  const answers: Record<string, (socket: net.Socket) => void> = {
    web: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    broker: (socket) => socket.write(Buffer.from([0, 0, 0, 10, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0])),
    closing: (socket) => socket.destroy(),
  };
  const outcome: Record<string, string> = {};
  for (const [name, answer] of Object.entries(answers)) {
    const listener = net.createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => answer(socket));
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${(listener.address() as net.AddressInfo).port}`;
    outcome[name] = await checkKafka([address], false, signal).catch((error: Error) => error.message);
    listener.close();
  }
  expect(outcome).toEqual({
    web: expect.stringContaining('is no Kafka broker'),
    broker: '1 of 1 brokers answer',
    closing: expect.stringMatching(/closed the connection|ECONNRESET/),
  });
});

test('advice on a wrong login, database or port follows the words of the database', async () => {
  const said = (words: string, advice = POSTGRES_ADVICE) =>
    withAdvice(advice, () => Promise.reject(new Error(words))).catch((error: Error) => error.message);
  const login = 'put a login of the server into it: ';
  expect(await said('password authentication failed for user "x"')).toContain(`"x": ${login}postgres://`);
  expect(await said('database "x" does not exist')).toMatch(/: make the database, or name one/);
  expect(await said('no pg_hba.conf entry')).toBe('no pg_hba.conf entry');
  const denied = 'HTTP 403: Code: 516. DB::Exception: x: Authentication failed';
  expect(await said(denied, CLICKHOUSE_ADVICE)).toBe(
    `${denied}: ${login}https://user:password@host:port/database`,
  );
  expect(await said('connection lost', CLICKHOUSE_ADVICE)).toMatch(/: is its port the one of HTTP/);
});

const missing = brokerMissing() ?? (process.env.KAFKA_BROKERS === undefined ? null : 'brokers were given');

describe.skipIf(missing !== null)(`a real broker${missing === null ? '' : ` (${missing})`}`, () => {
  const LOGIN = {
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: 'bankroll',
    KAFKA_SASL_PASSWORD: 'devnet-only',
  };
  const kafkaLines = async (env: Record<string, string>) =>
    (await diagnose(env)).lines.filter((line) => line.includes(' KAFKA_BROKERS '));

  test('accepts its login, and a client without one at the port that wants none', async () => {
    const [entered] = await kafkaLines({ KAFKA_BROKERS: String(await loginBrokers()), ...LOGIN });
    expect(entered).toMatch(/^ok .*1 of 1 brokers answer, a cluster of 1, entered by plain$/);
    const [open] = await kafkaLines({ KAFKA_BROKERS: String(await sharedBrokers()) });
    expect(open).toMatch(/^ok .*1 of 1 brokers answer, a cluster of 1, entered without a login$/);
  });

  const WRONG_LOGIN =
    /[Aa]uthentication.*: set KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD to a login of the brokers$/;
  const WRONG_MECHANISM = /: set KAFKA_SASL_MECHANISM to one that the brokers take$/;
  const WRONG_PORT =
    /: is its port right, KAFKA_TLS set where it wants TLS alone, and KAFKA_SASL_MECHANISM where it wants a login\?$/;
  test.each([
    ['a wrong password', { ...LOGIN, KAFKA_SASL_PASSWORD: 'hunter2' }, WRONG_LOGIN],
    ['an unknown user', { ...LOGIN, KAFKA_SASL_USERNAME: 'nobody' }, WRONG_LOGIN],
    ['SCRAM-SHA-256', { ...LOGIN, KAFKA_SASL_MECHANISM: 'scram-sha-256' }, WRONG_MECHANISM],
    ['SCRAM-SHA-512', { ...LOGIN, KAFKA_SASL_MECHANISM: 'scram-sha-512' }, WRONG_MECHANISM],
    ['no login', {}, WRONG_PORT],
    ['TLS', { ...LOGIN, KAFKA_TLS: 'true' }, WRONG_PORT],
  ])('whose port takes PLAIN logins alone gets one failed line with advice on %s', async (_, env, advice) => {
    const lines = await kafkaLines({ KAFKA_BROKERS: String(await loginBrokers()), ...env });
    expect(lines).toEqual([expect.stringMatching(/^failed /)]);
    expect(lines[0]).toMatch(advice);
    expect(lines[0]).not.toContain('hunter2');
  });

  test.each([
    [
      'a login',
      LOGIN,
      /: its port takes no login: leave KAFKA_SASL_MECHANISM unset, or name the port that does$/,
    ],
    ['TLS', { KAFKA_TLS: 'true' }, WRONG_PORT],
  ])('whose port takes no login gets one failed line with advice on %s', async (_, env, advice) => {
    const lines = await kafkaLines({ KAFKA_BROKERS: String(await sharedBrokers()), ...env });
    expect(lines).toEqual([expect.stringMatching(/^failed /)]);
    expect(lines[0]).toMatch(advice);
  });
});
