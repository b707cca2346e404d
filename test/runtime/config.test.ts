import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../runtime/config/config.ts';
import { proxyAdvice } from '../../runtime/config/proxy-advice.ts';
import { lockDataDir } from '../../runtime/process/data-lock.ts';
import { awaited } from '../support/awaited.ts';

describe('the configuration', () => {
  test('has the documented defaults', () => {
    expect(readConfig({})).toMatchObject({
      serviceName: 'bankroll-indexer',
      publicUrl: null,
      host: '127.0.0.1',
      port: 8080,
      metricsPort: null,
      dataDir: './data',
      commitment: 'confirmed',
      kafkaBrokers: null,
      kafkaPartitions: 12,
      kafkaRetentionMs: '-1',
      perpVenueId: 'perp_venue',
      pollIntervalMs: 15_000,
      trustProxy: 0,
    });
  });

  test.each([
    ['PORT', '99999'],
    ['PORT', '80a'],
    ['SERVICE_NAME', 'Has Capitals'],
    ['COMMITMENT', 'processed'],
    ['PROGRAM_ID', 'not-a-key'],
    ['SOLANA_RPC_URL', 'ftp://node'],
    ['SOLANA_RPC_URL', 'https://node.example,node'],
    ['PROGRAM_START_SLOT', '-5'],
    ['KAFKA_BROKERS', 'no-port'],
    ['KAFKA_BROKERS', 'broker:99999'],
    ['KAFKA_BROKERS', 'one:9092,two:0'],
    ['KAFKA_BROKERS', '[::1]:9092'],
    ['KAFKA_BROKERS', '::1:9092'],
    ['KAFKA_BROKERS', 'a:9092:9092'],
    ['CLICKHOUSE_URL', 'http://u:50%off@h:8123/name'],
    ['SOLANA_RPC_URL', 'https://node.example,https://u:50%@node.example'],
    ['PERP_VENUE_URL', 'https://u:a%ff@venue.example'],
    ['POSTGRES_URL', 'postgres://u:a%ff@h/name'],
    ['POSTGRES_URL', 'postgres://u:p@h/a%ff'],
    ['YELLOWSTONE_X_TOKEN', 'tök'],
    ['YELLOWSTONE_X_TOKEN', 'to\nken'],
    ['YELLOWSTONE_ENDPOINT', 'no-port'],
    ['YELLOWSTONE_ENDPOINT', 'node:70000'],
    ['YELLOWSTONE_ENDPOINT', 'ftp://node:10000'],
    ['PERP_VENUE_ID', 'options_venue'],
    ['AMM_VENUE_ID', 'perp_venue'],
    ['OPTIONS_VENUE_ID', '..'],
    ['KAFKA_TLS', 'yes'],
    ['KAFKA_SASL_MECHANISM', 'digest'],
    ['POSTGRES_URL', 'http://x'],
    ['CLICKHOUSE_URL', 'http://u:p@h:8123/no-name'],
    ['CLICKHOUSE_URL', 'http://u:p@h:8123/a/b'],
    ['CLICKHOUSE_URL', 'http://u:p@h:8123/name?database=other'],
    ['PRICE_URL', 'https://prices.example/?key=mark'],
    ['PERP_VENUE_URL', 'https://venue.example/#mark'],
    ['PUBLIC_URL', 'https://user:mark@api.example'],
    ['PRICE_URL', 'https:prices.example'],
    ['SOLANA_RPC_URL', 'https://node.example, http:/node'],
    ['OPTIONS_VENUE_URL', 'https://venue .example/v1'],
    ['PERP_VENUE_URL', 'https://venue.example/a\tb'],
    ['LAUNCHPAD_CATALOGUE_URL', 'https://venue.example/a\nb'],
    ['TRUST_PROXY', '-1'],
    ['POLL_INTERVAL_MS', '1.5'],
  ])('a malformed value (%s=%s) is an error that names the variable and not the value', (name, value) => {
    const read = () => readConfig({ [name]: value });
    expect(read).toThrow(new RegExp(`^${name} is malformed: it must be `));
    expect(read).not.toThrow(value);
  });

  test.each([1, 50, 864_000_000])('takes any whole number from 1 as POLL_INTERVAL_MS: %i', (millis) => {
    expect(readConfig({ POLL_INTERVAL_MS: String(millis) }).pollIntervalMs).toBe(millis);
    expect(() => readConfig({ POLL_INTERVAL_MS: '0' })).toThrow(/^POLL_INTERVAL_MS is malformed: .* from 1 /);
  });

  test('takes several JSON-RPC nodes, the preferred one first', () => {
    const { solanaRpcUrl } = readConfig({ SOLANA_RPC_URL: 'https://a.example/, http://b.example/key' });
    expect(solanaRpcUrl).toEqual(['https://a.example', 'http://b.example/key']);
  });

  test.each([
    'PERP_VENUE_URL',
    'OPTIONS_VENUE_URL',
    'LAUNCHPAD_CATALOGUE_URL',
    'PRICE_URL',
    'IPFS_GATEWAY',
    'PUBLIC_URL',
    'CLICKHOUSE_URL',
    'SOLANA_RPC_URL',
    'YELLOWSTONE_ENDPOINT',
  ])('takes %s without surrounding whitespace or a trailing slash', (name) => {
    const urlOf = (text: string) => {
      const config = readConfig({ [name]: text });
      return config[
        name.toLowerCase().replace(/_\w/g, ([, letter = '']) => letter.toUpperCase()) as 'priceUrl'
      ];
    };
    const clean = urlOf('https://a.example/v1');
    expect([clean].flat()).toEqual(['https://a.example/v1']);
    for (const text of [' https://a.example/v1', 'https://a.example/v1/ ', '\thttps://a.example/v1\r\n'])
      expect(urlOf(text), JSON.stringify(text)).toEqual(clean);
  });

  test('the error for a malformed URL says how a % in a login is written only where that may be wrong', () => {
    expect(() => readConfig({ PRICE_URL: 'https://u:50%off@prices.example' })).toThrow(
      'PRICE_URL is malformed: it must be a URL of http:// or https:// without a query or a fragment, a % of its login written %25',
    );
    expect(() => readConfig({ POSTGRES_URL: 'http://u:p@h' })).toThrow(/postgresql:\/\/$/);
  });

  test('takes decodable escapes in a login, any in a path, and in POSTGRES_URL all that its client takes', () => {
    const given = {
      CLICKHOUSE_URL: 'http://u:50%25off%C3%BC@h:8123/name',
      PERP_VENUE_URL: 'https://venue.example/a%ff',
      POSTGRES_URL: 'postgres://u:50%off@h/name',
    };
    expect(readConfig(given)).toMatchObject({
      clickhouseUrl: given.CLICKHOUSE_URL,
      perpVenueUrl: given.PERP_VENUE_URL,
      postgresUrl: given.POSTGRES_URL,
    });
  });

  test.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
    'turns sslmode=%s of POSTGRES_URL into verify-full, unless uselibpqcompat is true',
    (mode) => {
      const read = (url: string) => readConfig({ POSTGRES_URL: url }).postgresUrl;
      const url = (sslmode: string) => `postgres://u:p@h/x?sslmode=${sslmode}&application_name=a`;
      expect(read(url(mode))).toBe(url('verify-full'));
      expect(read(`${url(mode)}&uselibpqcompat=true`)).toBe(`${url(mode)}&uselibpqcompat=true`);
    },
  );

  test.each(['disable', 'no-verify'])('leaves sslmode=%s of POSTGRES_URL as it is', (mode) => {
    const url = `postgres://u:p@h/x?sslmode=${mode}`;
    expect(readConfig({ POSTGRES_URL: url }).postgresUrl).toBe(url);
  });

  test('strips the line end of a secret and keeps its spaces', () => {
    const given = {
      YELLOWSTONE_X_TOKEN: 'to ken',
      KAFKA_SASL_USERNAME: 'user',
      KAFKA_SASL_PASSWORD: ' pässword ',
    };
    const ended = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, `${value}\r\n`]));
    expect(readConfig(ended)).toMatchObject({
      yellowstoneXToken: given.YELLOWSTONE_X_TOKEN,
      kafkaSaslUsername: given.KAFKA_SASL_USERNAME,
      kafkaSaslPassword: given.KAFKA_SASL_PASSWORD,
    });
  });

  test('takes YELLOWSTONE_ENDPOINT as host:port or as a URL', () => {
    for (const endpoint of ['node:10000', '[::1]:10000', 'https://node.example', 'http://127.0.0.1:10000'])
      expect(readConfig({ YELLOWSTONE_ENDPOINT: endpoint }).yellowstoneEndpoint).toBe(endpoint);
  });

  test('takes KAFKA_SASL_MECHANISM in lower or upper case', () => {
    for (const mechanism of ['scram-sha-256', 'SCRAM-SHA-256'])
      expect(readConfig({ KAFKA_SASL_MECHANISM: mechanism }).kafkaSaslMechanism).toBe('scram-sha-256');
  });

  test('takes a secret from the file that <NAME>_FILE names', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'config-'));
    const file = path.join(directory, 'token');
    writeFileSync(file, 'secret-token\n');
    expect(readConfig({ YELLOWSTONE_X_TOKEN_FILE: file }).yellowstoneXToken).toBe('secret-token');
    rmSync(directory, { recursive: true });
    expect(() => readConfig({ YELLOWSTONE_X_TOKEN_FILE: file })).toThrow(
      /^YELLOWSTONE_X_TOKEN_FILE cannot be read/,
    );
  });
});

test('a warning is given where TRUST_PROXY is 0 though PUBLIC_URL implies a proxy', () => {
  const advice = (env: Record<string, string>) => proxyAdvice(readConfig(env));
  expect(advice({ PUBLIC_URL: 'https://api.example' })).toMatch(/PUBLIC_URL is https.*TRUST_PROXY is 0/);
  expect(advice({ PUBLIC_URL: 'http://api.example' })).toMatch(/HOST is this machine alone/);
  expect(advice({ PUBLIC_URL: 'https://api.example', TRUST_PROXY: '1' })).toBeNull();
  expect(advice({ PUBLIC_URL: 'http://127.0.0.1:8080' })).toBeNull();
  expect(advice({})).toBeNull();
});

describe('the data directory', () => {
  test('gets mode 700, whether it is new or was open to others before', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'mode-'));
    const modeOf = (name: string) => (statSync(name).mode & 0o777).toString(8);
    chmodSync(directory, 0o755);
    lockDataDir(directory)();
    expect(modeOf(directory)).toBe('700');
    const fresh = path.join(directory, 'fresh');
    lockDataDir(fresh)();
    expect(modeOf(fresh)).toBe('700');
    rmSync(directory, { recursive: true });
  });

  test('that cannot be made is an error that says why; missing parents are made', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'file-'));
    const file = path.join(directory, 'a file');
    writeFileSync(file, '');
    expect(() => lockDataDir(file)).toThrow(`DATA_DIR ${file} is no directory: name another`);
    expect(() => lockDataDir(path.join(file, 'below'))).toThrow('lies in what is no directory');
    expect(() => lockDataDir('/proc/no/such')).toThrow('DATA_DIR /proc/no/such ');
    const deep = path.join(directory, 'one', 'in', 'another');
    lockDataDir(deep)();
    expect(statSync(deep).isDirectory()).toBe(true);
    rmSync(directory, { recursive: true });
  });

  test('is locked by one living process at a time; the lock of a dead one does not count', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'lock-'));
    const unlock = lockDataDir(directory);
    expect(() => lockDataDir(directory)).toThrow(`in use by process ${process.pid}`);
    unlock();
    writeFileSync(path.join(directory, 'lock'), JSON.stringify({ pid: 2 ** 22 + 1, started: '1' }));
    lockDataDir(directory)();
    rmSync(directory, { recursive: true });
  });

  /** A process in its own group that holds the directory, and whose parent never waits for it. */
  async function heldByAnother(directory: string): Promise<{ pid: number; parent: ChildProcess }> {
    const lock = JSON.stringify(path.resolve(import.meta.dirname, '../../runtime/process/data-lock.ts'));
    const code = `import { lockDataDir } from ${lock};
      lockDataDir(${JSON.stringify(directory)});
      setInterval(() => {}, 1000);
      process.stdout.write(process.pid + '\\n');`;
    // The program that `exec` puts in the shell's place never waits for the shell's child.
    const parent = spawn(
      'sh',
      ['-c', 'setsid "$0" --input-type=module -e "$1" & exec sleep 600', process.execPath, code],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const [line] = (await once(parent.stdout as Readable, 'data')) as [Buffer];
    return { pid: Number(line.toString()), parent };
  }

  test('whose holder was just killed with its process group can be locked at once', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'lock-'));
    const { pid, parent } = await heldByAnother(directory);
    expect(() => lockDataDir(directory)).toThrow(`in use by process ${pid}`);
    process.kill(-pid, 'SIGKILL');
    lockDataDir(directory)();
    parent.kill('SIGKILL');
    rmSync(directory, { recursive: true });
  });

  test('whose holder is a zombie can be locked without waiting', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'lock-'));
    const { pid, parent } = await heldByAnother(directory);
    process.kill(-pid, 'SIGKILL');
    const threads = () => readdirSync(`/proc/${pid}/task`).length;
    await awaited(() => expect([statOf(pid)[0], threads()]).toEqual(['Z', 1]));
    const waiting = vi.spyOn(Atomics, 'wait');
    const unlock = lockDataDir(directory);
    expect(waiting).not.toHaveBeenCalled();
    waiting.mockRestore();
    expect(statOf(pid)[0], 'it is one still').toBe('Z');
    unlock();
    parent.kill('SIGKILL');
    rmSync(directory, { recursive: true });
  });
});

/** Fields of /proc/PID/stat after the name, which are the third and later ones of proc(5). */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
