import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../api/postgres/pool.ts';
import type { Store } from '../../clickhouse/client.ts';
import { openServer } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/schema/migrate.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { classBitOf, perVenue, REMOTE_VENUE_NAMES, urlVariable } from '../../schemas/venues/remote.ts';
import { key, mintRow, PROGRAM, policyRow, venueAccountRow } from '../api/support/rows.ts';
import { awaited } from '../support/awaited.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { freshPostgresUrl } from '../support/servers-of-run.ts';
import { insertWritten } from '../support/written.ts';
import { type BrokenUpstreams, breakUpstreams, MARK, MARKS } from './support/broken-upstreams.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const VENUES = [...REMOTE_VENUE_NAMES, 'catalogue', 'price'];
const MARKED_LOGIN = `user:${MARK}@`;

const directory = mkdtempSync(path.join(tmpdir(), 'secrets-'));
let broken: BrokenUpstreams;

interface Running {
  child: ChildProcess;
  ended: Promise<unknown>;
  said(): string;
}

const running: Running[] = [];

/** Every variable that holds a secret or an address with one, with a test's changes. */
function everySecret(changes: Record<string, string> = {}): Record<string, string> {
  return {
    YELLOWSTONE_ENDPOINT: broken.grpc,
    YELLOWSTONE_X_TOKEN: MARK,
    SOLANA_RPC_URL: `${broken.http('rpc')}?key=${MARK},${broken.http('second')}`,
    KAFKA_BROKERS: broken.tcp,
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: 'user',
    KAFKA_SASL_PASSWORD: MARK,
    CLICKHOUSE_URL: broken.clickhouse,
    POSTGRES_URL: broken.postgres,
    ...perVenue(urlVariable, (venue) => broken.http(venue)),
    LAUNCHPAD_CATALOGUE_URL: broken.http('catalogue'),
    PRICE_URL: broken.http('price'),
    IPFS_GATEWAY: broken.http('gateway').replace('http:', 'https:'),
    ...changes,
  };
}

/** Puts half of the variables into files. */
function halfInFiles(all: Record<string, string>): Record<string, string> {
  const given = Object.entries(all).filter(([, value]) => value !== '');
  return Object.fromEntries(
    given.map(([name, value], at) => {
      if (at % 2 === 0) return [name, value];
      const file = path.join(directory, name);
      writeFileSync(file, `${value}\n`);
      return [`${name}_FILE`, file];
    }),
  );
}

const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
/** PATH, and the compile cache, which halves the start of a process. */
const OF_TESTS = { PATH, NODE_COMPILE_CACHE };

function run(script: string, env: Record<string, string>): Running {
  const common = { DATA_DIR: path.join(directory, 'data'), LOG_LEVEL: 'debug', POLL_INTERVAL_MS: '100' };
  const child = spawn(process.execPath, [path.join(ROOT, script)], {
    cwd: directory,
    env: { ...OF_TESTS, ...common, ...halfInFiles(env) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  const one = { child, ended: once(child, 'close'), said: () => said };
  running.push(one);
  return one;
}

function mustHoldNoMark(text: string): void {
  for (const mark of MARKS) {
    const at = text.indexOf(mark);
    expect(at === -1 ? '' : text.slice(Math.max(0, at - 200), at + 60)).toBe('');
  }
}

beforeAll(async () => {
  broken = await breakUpstreams(['price']);
});
afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ ended }) => ended));
  await broken.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Runs a command until it ends or has printed six lines, `words` among them. @returns what it printed */
async function printedBy(script: string, words: RegExp): Promise<string> {
  const one = run(script, everySecret({ PORT: '0' }));
  const isEnded = one.ended.then(() => true);
  await awaited(async () => {
    const ended = await Promise.race([isEnded, new Promise((resolve) => setImmediate(resolve, false))]);
    if (ended === true) return;
    expect(one.said().split('\n').length, one.said()).toBeGreaterThan(6);
    expect(one.said()).toMatch(words);
  }, 200);
  one.child.kill('SIGTERM');
  await one.ended;
  return one.said();
}

test.each([
  ['api/main.ts', /"msg":"POSTGRES_URL: Postgres is unusable/],
  ['ingest/commands/ingest.ts', /"what":"looking for the topics".*"msg":"trying again"/],
  ['ingest/commands/materialise.ts', /"what":"opening ClickHouse".*"msg":"trying again"/],
  ['ingest/commands/poll.ts', /"what":"opening ClickHouse".*"msg":"trying again"/],
  ['ingest/commands/backfill.ts', /^the brokers of KAFKA_BROKERS let nobody in/m],
  [
    'ingest/commands/doctor.ts',
    /^failed {2}YELLOWSTONE_ENDPOINT[\s\S]*^failed {2}KAFKA_BROKERS[\s\S]*^failed {2}POSTGRES_URL/m,
  ],
])(
  '%s names what fails while every upstream is broken, and no secret of its configuration',
  async (script, words) => {
    const printed = await printedBy(script, words);
    expect(printed).toMatch(words);
    mustHoldNoMark(printed);
  },
);

// What these say depends on which of the faults they meet first.
test.each(['ingest/commands/replay.ts', 'ingest/commands/audit.ts', 'start/migrate.ts'])(
  '%s prints a message while every upstream is broken, and no secret of its configuration',
  async (script) => {
    const printed = await printedBy(script, /./);
    expect(printed.trim()).not.toBe('');
    mustHoldNoMark(printed);
  },
);

describe('npm start while its upstreams are broken', () => {
  let store: Store;
  let system: Running;
  let url: string;
  let postgresUrl: string;
  let metricsPort: number;

  beforeAll(async () => {
    const clickhouseUrl = freshDatabaseUrl();
    postgresUrl = await freshPostgresUrl();
    store = await openServer(clickhouseUrl, null);
    await migrate(store, null);
    await store.insert('policies', [policyRow('coin', 'usd', { mode: 'Agent', agent: key('agent') })]);
    await insertWritten(store, 'venue_accounts', [
      ...REMOTE_VENUE_NAMES.map((venue) =>
        venueAccountRow('coin', venue, {
          asset_class: classBitOf(venue),
          remote_account: '0'.repeat(24) + '1'.repeat(40),
        }),
      ),
    ]);
    await store.insert('mints', [
      mintRow('coin', 6, { name: 'Coin', symbol: 'C', uri: 'ipfs://bafy/coin.json' }),
      mintRow('usd', 6, {
        name: 'Dollar',
        symbol: 'USD',
        uri: broken.http('document').replace(MARKED_LOGIN, '').replace(MARK, 'usd.json'),
      }),
    ]);
    const db = openPool(postgresUrl);
    await db.query(`CREATE ROLE marked LOGIN SUPERUSER PASSWORD '${MARK}'`);
    await db.close();
    metricsPort = await freePort();
    system = run(
      'start/main.ts',
      everySecret({
        ...{ PORT: '0', METRICS_PORT: String(metricsPort), METADATA_ALLOW_PRIVATE: 'true' },
        ...{ PROGRAM_ID: encodeBase58(PROGRAM), KAFKA_BROKERS: '', PUBLIC_URL: 'https://api.example' },
        CLICKHOUSE_URL: clickhouseUrl.replace('http://', `http://${MARKED_LOGIN}`),
        POSTGRES_URL: postgresUrl.replace(/\/\/.*@/, `//marked:${MARK}@`),
      }),
    );
    await awaited(() => expect(system.said()).toMatch(/is serving \S+/));
    url = /is serving (\S+)/.exec(system.said())?.[1] as string;
  });
  afterAll(async () => {
    await store.command(`DROP DATABASE ${store.database} SYNC`);
    await store.close();
  });

  const ask = async (address: string, init?: RequestInit) => {
    const response = await fetch(address, init);
    return `${JSON.stringify([...response.headers])}\n${await response.text()}`;
  };

  test('reports the failures in its responses, and no response, page, metric or probe contains a secret', async () => {
    const challenge = { mint: key('coin'), agent: key('agent') };
    const post = {
      method: 'POST',
      body: JSON.stringify(challenge),
      headers: { 'content-type': 'application/json' },
    };
    await awaited(async () => {
      for (const name of VENUES) expect(broken.met(name).size, name).toBeGreaterThanOrEqual(6);
      expect(broken.met('rpc').size + broken.met('second').size).toBeGreaterThanOrEqual(6);
      expect(broken.refused()).toBeGreaterThanOrEqual(3);
      const { imageReason } = (await (await fetch(`${url}/coins/${key('coin')}`)).json()) as {
        imageReason: string;
      };
      expect(imageReason).toMatch(
        /^(no answer|connection lost|refused|timed out|its certificate is not valid)$/,
      );
    }, 200);
    const coin = ['', '/positions', '/activity', '/loop', '/fees', '/holders', '/posts', '/history'];
    const pages = ['', 'protocol', 'registries', `coins/${key('coin')}`, 'nowhere', 'decimals'];
    const routes = [
      '/status',
      '/quotes',
      '/rankings',
      '/analytics',
      '/analytics/history',
      '/health',
      '/',
      '/openapi.json',
      '/origins',
      '/models',
      '/nowhere',
    ];
    const shown = await Promise.all([
      ...coin.map((route) => ask(`${url}/coins/${key('coin')}${route}`)),
      ...routes.map((route) => ask(url + route)),
      ...pages.map((page) => ask(`${url}/explorer/${page}`)),
      ask(`${url}/venues/options_venue/currencies`),
      ask(`${url}/api/agent/challenge`, post),
      ...['metrics', 'ready', 'live'].map((name) => ask(`http://127.0.0.1:${metricsPort}/${name}`)),
    ]);
    expect(shown.join('\n')).toContain('chain_unreachable');
    expect(shown.join('\n')).toMatch(/"reachable": false/);
    for (const text of shown) mustHoldNoMark(text);
  });

  test('warns at start that PUBLIC_URL is https while TRUST_PROXY is 0', () => {
    expect(system.said()).toMatch(/PUBLIC_URL is https.*TRUST_PROXY is 0/);
  });

  test('prints, logs and stores no secret, not even in dead letters', async () => {
    system.child.kill('SIGTERM');
    await system.ended;
    mustHoldNoMark(system.said());
    expect(system.said()).toContain('"level":');
    const tables = await store.query<{ name: string }>(
      "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
    );
    for (const { name } of tables) mustHoldNoMark(JSON.stringify(await store.query(`SELECT * FROM ${name}`)));
    const letters = await store.query<{ what: string; bytes: string }>(
      'SELECT what, bytes FROM dead_letters',
    );
    expect(new Set(letters.map(({ what }) => what))).toContain('reading:perp');
    for (const { bytes } of letters) mustHoldNoMark(Buffer.from(bytes, 'base64').toString('latin1'));
    const db = openPool(postgresUrl);
    const names = await db.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    for (const { name } of names) mustHoldNoMark(JSON.stringify(await db.query(`SELECT * FROM ${name}`)));
    await db.close();
  });
});
