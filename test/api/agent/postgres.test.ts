import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { sweep } from '../../../api/agent/limits/sweep.ts';
import { deferred } from '../../../api/postgres/deferred.ts';
import { migratePostgres } from '../../../api/postgres/migrate.ts';
import { openPool } from '../../../api/postgres/pool.ts';
import type { Db, Queries } from '../../../api/postgres/port.ts';
import { createReopened, type Reopened } from '../../../api/postgres/reopened.ts';
import { watchPostgres } from '../../../api/postgres/watch.ts';
import { BusyError, ConfigError } from '../../../runtime/errors.ts';
import { awaited, PATIENCE_MS } from '../../support/awaited.ts';
import { freePort } from '../../support/free-port.ts';
import { placeEmbedded } from '../../support/pglite.ts';
import { freshPostgresUrl } from '../../support/servers-of-run.ts';
import { patientPool } from './support/patient-db.ts';
import { openPooler } from './support/pooler.ts';
import { ENGINES, emptyEmbedded } from './support/postgres.ts';

const AGAIN_MS = 15_000;
const HOUR_MS = 60 * 60_000;
const PATIENT = { connections: 1, connectMs: PATIENCE_MS, statementMs: PATIENCE_MS };

test('the embedded engine answers the queries sent before its close', async () => {
  const db = await emptyEmbedded();
  const asked = Array.from({ length: 50 }, (_, at) => db.query<{ at: number }>(`SELECT ${at} AS at`));
  const answers = Promise.allSettled(asked);
  await db.close();
  expect((await answers).filter(({ status }) => status === 'rejected')).toEqual([]);
});

test('a table, its indexes and the log of the embedded engine stay bounded while rows are written and swept', async () => {
  const db = await emptyEmbedded();
  await migratePostgres(db);
  const grown = async () => {
    for (let minute = 0; minute < 4; minute += 1) {
      await db.query(
        `INSERT INTO attempts SELECT 'failed:' || n, now() - interval '3 minutes' FROM generate_series(1, 20000) AS n`,
      );
      await sweep(db);
    }
    const [row] = await db.query<{ table: string; indexes: string; log: string }>(
      `SELECT pg_relation_size('attempts')::text AS table, pg_indexes_size('attempts')::text AS indexes,
         pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::text AS log FROM pg_control_checkpoint()`,
    );
    return row as { table: string; indexes: string; log: string };
  };
  const first = await grown();
  const later = await grown();
  expect(Number(later.table)).toBeLessThanOrEqual(Number(first.table));
  expect(Number(later.indexes)).toBeLessThan(1.2 * Number(first.indexes));
  // The log of the last minutes, 6 MB each, and not of all of them.
  expect(Number(later.log)).toBeLessThan(50e6);
  await db.close();
});

test('an embedded engine that panicked on an unwritable log is sent nothing, and reopened once it can write', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'pglite-'));
  await placeEmbedded(directory);
  const script = path.join(import.meta.dirname, 'support/panicking.ts');
  // An engine that has panicked and is asked again would block the thread for ever.
  const { stdout } = await promisify(execFile)(process.execPath, [script, directory], {
    timeout: PATIENCE_MS,
  });
  rmSync(directory, { recursive: true, force: true });
  const ended = expect.stringContaining('could not open file "pg_wal/');
  const away = expect.stringContaining('the embedded Postgres');
  expect(JSON.parse(stdout)).toEqual([
    ...['[{"a":1}]', ended, away, '[{"a":1}]'],
    ...['[{"a":3}]', ended, away, '[{"a":1},{"a":3}]'],
  ]);
});

test('an embedded engine that keeps panicking is reopened ever more rarely, until one has served for an hour', async () => {
  let [now, opened] = [0, 0];
  let panics = true;
  const create = async () => {
    opened += 1;
    return {
      execProtocolStream: async () => {
        if (panics) throw Object.assign(new Error('no space left'), { severity: 'PANIC' });
      },
    } as never;
  };
  const engine = await createReopened(
    create,
    AGAIN_MS,
    async () => {},
    () => now,
  );
  const ask = async (of: Reopened) => (await of.whole()).execProtocolStream(new Uint8Array());
  /** Seconds until the next engine was opened. */
  const untilNext = async () => {
    const [before, at] = [opened, now];
    while (opened === before && now - at < 2 * HOUR_MS) {
      now += 1_000;
      await ask(engine).catch(() => {});
    }
    return (now - at) / 1_000;
  };
  await ask(engine).catch(() => {});
  const waits: number[] = [];
  for (let tries = 0; tries < 5; tries += 1) waits.push(await untilNext());
  expect(waits).toEqual([1, 30, 60, 120, 240]);
  for (let tries = 0; tries < 6; tries += 1) waits.push(await untilNext());
  expect(waits.at(-1)).toBe(HOUR_MS / 1_000);
  panics = false;
  await untilNext();
  // An answer at once does not show that the next write succeeds; one after an hour does.
  await ask(engine);
  panics = true;
  expect(await untilNext()).toBe(HOUR_MS / 1_000);
  panics = false;
  await untilNext();
  now += HOUR_MS;
  await ask(engine);
  panics = true;
  await ask(engine).catch(() => {});
  expect([await untilNext(), await untilNext()]).toEqual([1, 30]);
});

test.each(ENGINES)(
  'while %s is being closed, queries and transactions fail as busy: the service is stopping',
  async (engine) => {
    const db = deferred(engine === 'PGlite' ? emptyEmbedded() : freshPostgresUrl().then(patientPool));
    await db.query('SELECT 1');
    const closed = db.close();
    await expect(db.query('SELECT 1')).rejects.toThrow(BusyError);
    await expect(db.transaction((tx) => tx.query('SELECT 1'))).rejects.toThrow('the service is stopping');
    await closed;
  },
);

test('a Postgres that refuses the login, or is unreachable, is logged, and so is its return', async () => {
  const url = await freshPostgresUrl();
  const [wrong, away] = [new URL(url), new URL(url)];
  wrong.username = 'nobody-here';
  away.port = String(await freePort());
  const pools = [wrong, away, url].map((one) => openPool(String(one)));
  let asked = pools[0] as Db;
  const said: string[] = [];
  const over = new AbortController();
  const watching = watchPostgres(
    async () => void (await asked.query('SELECT 1')),
    {
      warn: (fields: object, sentence: string) => said.push(`${sentence} ${JSON.stringify(fields)}`),
      info: (_: object, sentence: string) => said.push(sentence),
    },
    over.signal,
    5,
  );
  await awaited(() => expect(said.at(-1)).toMatch(/^POSTGRES_URL: .*nobody-here/));
  asked = pools[1] as Db;
  await awaited(() => expect(said.at(-1)).toMatch(/^POSTGRES_URL: .*ECONNREFUSED/));
  asked = pools[2] as Db;
  await awaited(() => expect(said.at(-1)).toBe('Postgres answers again'));
  over.abort();
  await watching;
  for (const pool of pools) await pool.close();
});

describe.each(ENGINES)('migrations and transactions on %s', (engine) => {
  const open: Db[] = [];
  afterAll(async () => {
    for (const db of open) await db.close();
  });

  async function pools(handles: number): Promise<Db[]> {
    const url = await freshPostgresUrl();
    return Array.from({ length: handles }, () => patientPool(url));
  }
  async function empty(handles: number): Promise<Db[]> {
    const dbs = engine === 'PGlite' ? [await emptyEmbedded()] : await pools(handles);
    open.push(...dbs);
    return dbs;
  }
  const secretOf = async (db: Db) => (await db.query<{ secret: string }>('SELECT secret FROM agent_keys'))[0];

  test('concurrent migrations apply each file once and create one nonce key', async () => {
    const dbs = await empty(6);
    const applied = await Promise.all(dbs.map(migratePostgres));
    expect(applied.flat()).toEqual([
      '0001_agents.sql',
      '0002_rotations.sql',
      '0003_session_slots.sql',
      '0004_counting.sql',
      '0005_shown_agents.sql',
    ]);
    const first = await secretOf(dbs[0] as Db);
    expect(first?.secret).toMatch(/^[0-9a-f]{64}$/);
    expect(await migratePostgres(dbs[0] as Db)).toEqual([]);
    expect(await secretOf(dbs[0] as Db)).toEqual(first);
  });

  test('a migration that was edited after it was applied is refused', async () => {
    const [db] = await empty(1);
    await migratePostgres(db as Db);
    await (db as Db).query(`UPDATE agent_migrations SET checksum = 'x'`);
    await expect(migratePostgres(db as Db)).rejects.toThrow(/0001_agents.sql was edited/);
  });

  test('a transaction whose work throws is rolled back, and an invalid statement does not stop later ones', async () => {
    const [db] = await empty(1);
    await (db as Db).query('CREATE TABLE t (n int)');
    const failing = (db as Db).transaction(async (tx) => {
      await tx.query('INSERT INTO t VALUES (1)');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await expect((db as Db).transaction((tx) => tx.query('SELEC'))).rejects.toThrow();
    expect(await (db as Db).query('SELECT * FROM t')).toEqual([]);
  });
});

test('migrating with a login that may not create tables is a ConfigError, unless all tables exist already', async () => {
  const url = await freshPostgresUrl();
  const [owner, other] = [patientPool(url), new URL(url)];
  other.username = `weak_${randomBytes(4).toString('hex')}`;
  await owner.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await owner.query(`CREATE ROLE ${other.username} LOGIN PASSWORD 'password'`);
  const weak = patientPool(other.href);
  await expect(migratePostgres(weak)).rejects.toThrow(ConfigError);
  await expect(migratePostgres(weak)).rejects.toThrow(
    /^the login of POSTGRES_URL may not .* \(permission denied for schema public\): let one that may do it once$/,
  );
  await migratePostgres(owner);
  await owner.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${other.username}`);
  expect(await migratePostgres(weak)).toEqual([]);
  await Promise.all([owner.close(), weak.close()]);
});

test('migrating refuses a database that is not UTF-8, and leaves nothing in it', async () => {
  const url = new URL(await freshPostgresUrl());
  const home = patientPool(url.href);
  const ascii = `${url.pathname.slice(1)}_ascii`;
  await home.query(`CREATE DATABASE ${ascii} ENCODING 'SQL_ASCII' TEMPLATE template0`);
  url.pathname = ascii;
  const db = patientPool(url.href);
  await expect(migratePostgres(db)).rejects.toThrow(/in SQL_ASCII: it must be in UTF8/);
  expect(await db.query(`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`)).toEqual([]);
  await Promise.all([home.close(), db.close()]);
});

test('behind a pooler that accepts no startup options, queries and transactions still have their timeouts', async () => {
  const pooler = await openPooler(await freshPostgresUrl());
  const db = openPool(pooler.url, { ...PATIENT, statementMs: 7_000 });
  const limits = `SELECT current_setting('statement_timeout') AS statement,
    current_setting('idle_in_transaction_session_timeout') AS idle`;
  const expected = [{ statement: '7s', idle: '7s' }];
  expect(await db.query(limits)).toEqual(expected);
  // As where a pooler gives a transaction a connection that another client had before.
  await db.query('RESET ALL');
  expect(await db.transaction((tx) => tx.query(limits))).toEqual(expected);
  await db.close();
  await pooler.close();
});

describe('when Postgres does not answer in time', () => {
  /** Runs `meanwhile` while a transaction holds the locks of its first statement. */
  async function held(db: Db, begin: string, meanwhile: () => Promise<void>): Promise<void> {
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = db.transaction(async (tx) => {
      await tx.query(begin);
      begun.resolve();
      await release.promise;
    });
    await begun.promise;
    await meanwhile();
    release.resolve();
    await holding;
  }

  test('a write that waits too long for a lock fails as busy and stores nothing', async () => {
    const url = await freshPostgresUrl();
    const [others, db] = [patientPool(url), openPool(url, { ...PATIENT, statementMs: 3_000 })];
    await others.query('CREATE TABLE t (n int)');
    await others.query('CREATE TABLE locked (n int)');
    await held(others, 'LOCK TABLE locked', async () => {
      const writing = db.transaction(async (tx) => {
        // One statement: between two, the server may end a transaction that is idle for so long.
        await tx.query('WITH one AS (INSERT INTO t VALUES (1)) INSERT INTO locked VALUES (1)');
      });
      await expect(writing).rejects.toBeInstanceOf(BusyError);
    });
    expect(await others.query('SELECT * FROM t')).toEqual([]);
    await Promise.all([db.close(), others.close()]);
  });

  test('a query that gets no free connection of the pool in time fails as busy', async () => {
    const db = openPool(await freshPostgresUrl(), { ...PATIENT, connectMs: 500 });
    // The pool's one connection may take longer than that to be opened.
    await awaited(() => db.query('SELECT 1'));
    await held(db, 'SELECT 1', () => expect(db.query('SELECT 1')).rejects.toBeInstanceOf(BusyError));
    await db.close();
  });

  test('queries and transactions fail as busy if the server never completes a connection', async () => {
    const silent = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const limits = { ...PATIENT, connections: 2, connectMs: 100 };
    const db = openPool(`postgres://u:p@127.0.0.1:${port}/x`, limits);
    const ask = (on: Queries) => on.query('SELECT 1');
    const asked = await Promise.allSettled([ask(db), ask(db.readers), db.transaction(ask)]);
    const reason = new BusyError('Postgres took no connection in time');
    expect(asked).toEqual(Array(3).fill({ status: 'rejected', reason }));
    await db.close();
    silent.close();
  });
});
