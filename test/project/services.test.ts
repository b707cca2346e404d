import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mustBeCurrent } from '../../api/postgres/migrate.ts';
import { openPool } from '../../api/postgres/pool.ts';
import { openServer } from '../../clickhouse/client.ts';
import { schemaMustBeCurrent } from '../../clickhouse/schema/migrate.ts';
import { openKafka } from '../../ingest/log/kafka/open.ts';
import { partitionsOf } from '../../ingest/log/kafka/topics.ts';
import { readConfig } from '../../runtime/config/config.ts';
import { createLogger } from '../../runtime/process/log.ts';
import { devnetPortBase } from '../../start/ports.ts';
import { awaited } from '../support/awaited.ts';
import { freshDatabaseUrl } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { brokerMissing } from '../support/kafka.ts';
import { freshPostgresUrl, loginBrokers, sharedBrokers } from '../support/servers-of-run.ts';
import { ourServices, ROOT, readCompose, readEnvFile, type Service, textOf } from './support/compose.ts';

const compose = readCompose();
const missing = brokerMissing();

/** Maps what a container has of its own, network and files, to this machine, which all share. */
interface Place {
  /** Host names with ports, and what they are here. */
  hosts: Record<string, string>;
  /** Directories of a container, and what they are here. */
  directories: Record<string, string>;
}

/** One process as its service describes it, on ports of its own. */
interface Running {
  name: string;
  child: ChildProcess;
  ended: Promise<number | null>;
  /** Runs its health check as a process, as in its container. */
  check(): Promise<unknown>;
  /** Makes the check's request from here, so that waiting costs no process for each look. */
  answers(): Promise<unknown>;
  port: number;
}

const directory = mkdtempSync(path.join(tmpdir(), 'services-'));
const place: Place = { hosts: {}, directories: {} };
const running: Running[] = [];
let devnetBase = 0;
/** Where the agents of the local chain find the API. */
let apiPort = 0;
let hasLogin = true;

/** The image's Node is the one that package.json pins. */
const PATH = `${path.join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
/** Halves the start of each process. */
const CACHE = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' };
const TOPICS = `services-${randomBytes(6).toString('hex')}`;

function here(text: string): string {
  if (text === 'devnet') return '127.0.0.1';
  return Object.entries({ ...place.hosts, ...place.directories }).reduce(
    (moved, [there, mine]) => moved.replaceAll(there, mine),
    text,
  );
}

/** Ports on which a process of ours listens here. */
type Ports = Record<'METRICS_PORT' | 'PORT', number>;

function environmentOf(service: Service, ports: Ports): Record<string, string> {
  const files = (service.env_file ?? []).map(({ path: file }) => readEnvFile(file));
  const all = Object.assign({}, ...files, service.environment) as Record<string, string | number>;
  const moved = Object.entries(all).map(([name, value]) => [
    name,
    name in ports ? String(ports[name as keyof Ports]) : here(String(value)),
  ]);
  const own = moved.filter(([name]) => hasLogin || !name?.startsWith('KAFKA_SASL_'));
  return { ...Object.fromEntries(own), PATH, KAFKA_TOPIC_PREFIX: TOPICS, ...CACHE };
}

async function start(name: string, extra: string[] = [], port?: number): Promise<Running> {
  const service = compose.services[name] as Service;
  const ports = { METRICS_PORT: await freePort(), PORT: port ?? (await freePort()) };
  const env = environmentOf(service, ports);
  const [command = '', ...words] = service.command ?? [];
  const child = spawn(command, [...words.map(here), ...extra], { cwd: ROOT, env, stdio: 'ignore' });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const [check = '', ...args] = (service.healthcheck?.test ?? []).slice(1);
  const moved = args.map((word) => here(word).replace(':9464/', `:${ports.METRICS_PORT}/`));
  const url = moved.find((word) => word.startsWith('http')) ?? '';
  const one = {
    name,
    child,
    ended,
    check: () => promisify(execFile)(check, moved, { cwd: ROOT, env: { PATH, ...CACHE } }),
    answers: async () => expect((await fetch(url)).ok, `${name} is well`).toBe(true),
    port: ports.PORT,
  };
  running.push(one);
  return one;
}

async function healthy({ answers, check }: Running): Promise<void> {
  await awaited(answers, 100);
  await awaited(check, 300);
}

describe.skipIf(missing !== null)(
  `our services as docker-compose.yml runs them${missing === null ? '' : ` (${missing})`}`,
  () => {
    beforeAll(async () => {
      apiPort = await freePort();
      const database = freshDatabaseUrl();
      const withLogin = await loginBrokers();
      // Brokers from KAFKA_BROKERS have no known login.
      hasLogin = withLogin !== null;
      const brokers = withLogin ?? (await sharedBrokers());
      const postgres = await freshPostgresUrl();
      // Last, as a free port may be taken by anyone until the chain listens on it.
      devnetBase = await devnetPortBase(directory);
      place.hosts = {
        '0.0.0.0': '127.0.0.1',
        'devnet:10000': `127.0.0.1:${devnetBase}`,
        'devnet:8899': `127.0.0.1:${devnetBase + 1}`,
        'devnet:8900': `127.0.0.1:${devnetBase + 2}`,
        'http://api:8080': `http://127.0.0.1:${apiPort}`,
        'kafka:9092': brokers.join(','),
        'http://bankroll:devnet-only@clickhouse:8123/bankroll': database,
        'http://reader:devnet-only@clickhouse:8123/bankroll': database.replace(
          '://',
          '://reader:devnet-only@',
        ),
        'postgres://bankroll:devnet-only@postgres:5432/bankroll': postgres,
      };
      place.directories = {
        '/run/secrets': path.join(directory, 'secrets'),
        '/var/lib': directory,
      };
      mkdirSync(path.join(directory, 'secrets'));
      for (const [name, { file }] of Object.entries(compose.secrets)) {
        writeFileSync(path.join(directory, 'secrets', name), here(textOf(file)));
      }
    });

    afterAll(async () => {
      for (const { child } of running) child.kill('SIGKILL');
      await Promise.all(running.map(({ ended }) => ended));
      rmSync(directory, { recursive: true, force: true });
    });

    test('the health check of devnet fails while its process is stopped, and passes once it runs', async () => {
      // A short past instead of the deployment's: enough for these requests.
      const devnet = await start('devnet', ['--port-base', String(devnetBase), '--history', '300']);
      // Stopped, as on a loaded machine the check might start only once the chain is healthy.
      devnet.child.kill('SIGSTOP');
      try {
        // The check is refused, or times out.
        await expect(devnet.check()).rejects.toThrow('Command failed');
      } finally {
        devnet.child.kill('SIGCONT');
      }
      await healthy(devnet);
    });

    test('migrate exits with 0, and leaves both stores at the current schema and a log with its topics', async () => {
      const migrate = await start('migrate');
      expect(await migrate.ended).toBe(0);
      running.splice(running.indexOf(migrate), 1);
      const ports = { METRICS_PORT: 0, PORT: 0 };
      const config = readConfig(environmentOf(compose.services.migrate as Service, ports));
      const store = await openServer(config.clickhouseUrl as string, null);
      await schemaMustBeCurrent(store).finally(store.close);
      const db = openPool(config.postgresUrl as string);
      await mustBeCurrent(db).finally(db.close);
      const kafka = openKafka(config, createLogger('silent', 'test'));
      const partitions = await partitionsOf(kafka, TOPICS).finally(kafka.close);
      expect(new Set(Object.values(partitions))).toEqual(new Set([config.kafkaPartitions]));
    });

    test('every replica of every other service passes its health check', async () => {
      for (const [name, service] of ourServices(compose)) {
        if (name === 'devnet' || name === 'migrate') continue;
        const replicas = Number(service.deploy?.replicas ?? 1);
        for (let count = 0; count < replicas; count += 1)
          await start(name, [], name === 'api' && count === 0 ? apiPort : undefined);
      }
      expect(running).toHaveLength(7);
      await Promise.all(running.map(healthy));
    });

    test('each API replica serves rankings with policies of the local chain', async () => {
      for (const { port } of running.filter(({ name }) => name === 'api')) {
        await awaited(async () => {
          const answer = await fetch(`http://127.0.0.1:${port}/rankings`);
          const text = await answer.text();
          expect((JSON.parse(text) as { total?: number }).total ?? 0, text).toBeGreaterThan(0);
        }, 200);
      }
    });

    test('an agent of the local chain has posted', async () => {
      await awaited(async () => {
        const rows = await fetch(`http://127.0.0.1:${apiPort}/rankings?mode=Agent&sort=activity`);
        const { items } = (await rows.json()) as { items: { mint: string }[] };
        const feeds = await Promise.all(
          items.map(async ({ mint }) => {
            const feed = await fetch(`http://127.0.0.1:${apiPort}/coins/${mint}/posts?limit=1`);
            return ((await feed.json()) as { total: number }).total;
          }),
        );
        expect(feeds.some((total) => total > 0)).toBe(true);
      }, 1_000);
    });

    test('every process exits with 0 on SIGTERM', async () => {
      // One after another, those that others depend on last, so that each has the machine to itself for its end.
      for (const { name, child, ended } of running.toReversed()) {
        child.kill('SIGTERM');
        expect(`${name} ${await ended}`).toBe(`${name} 0`);
      }
    });
  },
);
