import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { takeLogLease } from '../../clickhouse/schema/log-lease.ts';
import { readConfig } from '../../runtime/config/config.ts';
import { ConfigError, RetryableError } from '../../runtime/errors.ts';
import { createLogger } from '../../runtime/process/log.ts';
import { openStores, prepareStore } from '../../start/stores.ts';
import { key } from '../ingest/materialise/support/records.ts';
import { awaited } from '../support/awaited.ts';
import { emptyDatabase, urlOf } from '../support/database.ts';

const logger = createLogger('silent', 'test');
/** So long that no process counts as dead, however busy the machine is. */
const PATIENT = { everyMs: 50, staleSeconds: 60 };

async function emptyServer(): Promise<Store> {
  const store = await emptyDatabase();
  onTestFinished(() => store.close());
  return store;
}

const tablesOf = async (store: Store) =>
  (
    await store.query<{ name: string }>('SELECT name FROM system.tables WHERE database = currentDatabase()')
  ).map(({ name }) => name);

test('readers are answered while all connections of ingestion are busy', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'stores-'));
  const { store, reads } = await openStores(readConfig({ DATA_DIR: directory }), logger);
  // A reader of a pipe is held until a writer has opened and closed it.
  const held = path.join(directory, 'held');
  execFileSync('mkfifo', [held]);
  const letGo = () => closeSync(openSync(held, constants.O_WRONLY | constants.O_NONBLOCK));
  let done = 0;
  const busy = Array.from({ length: 12 }, () =>
    store.query(`SELECT line FROM file('${held}', LineAsString, 'line String')`).finally(() => {
      done += 1;
    }),
  );
  const answers = Promise.allSettled(busy);
  // An engine cannot be closed while its threads are held.
  onTestFinished(async () => {
    await awaited(() => {
      if (done < busy.length) letGo();
      expect(done).toBe(busy.length);
    });
    await store.close();
    rmSync(directory, { recursive: true });
  });
  expect(await reads.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(done).toBe(0);
  await awaited(() => {
    if (done < busy.length) letGo();
    expect(done).toBe(busy.length);
  });
  expect(new Set((await answers).map(({ status }) => status))).toEqual(new Set(['fulfilled']));
});

test('a database that another npm start fills is not migrated until that one has released it', async () => {
  const store = await emptyServer();
  const first = await takeLogLease(store, '', () => {}, PATIENT);
  const refused = prepareStore(await openServer(urlOf(store), null), readConfig({}), logger, PATIENT);
  await expect(refused).rejects.toThrow(ConfigError);
  expect(await tablesOf(store)).toEqual(['log_lease']);
  await first.release();
  const own = await openServer(urlOf(store), null);
  const lease = await prepareStore(own, readConfig({}), logger, PATIENT);
  expect(lease?.isHeld()).toBe(true);
  expect(await tablesOf(store)).toContain('policies');
  await lease?.release();
  await own.close();
});

test('a database of another program is not migrated, and no lease on it is taken', async () => {
  const store = await emptyServer();
  await store.command(
    'CREATE TABLE indexed_program (program String) ENGINE = ReplacingMergeTree ORDER BY program',
  );
  await store.insert('indexed_program', [{ program: key('theirs') }]);
  const refused = prepareStore(await openServer(urlOf(store), null), readConfig({}), logger, PATIENT);
  await expect(refused).rejects.toThrow(`is of the program ${key('theirs')}`);
  expect(await tablesOf(store)).toEqual(['indexed_program']);
});

test('with Kafka as the log no lease is taken, so several processes may fill the database', async () => {
  const own = await openServer(urlOf(await emptyServer()), null);
  expect(await prepareStore(own, readConfig({ KAFKA_BROKERS: 'somewhere:9092' }), logger)).toBe(null);
  await own.close();
});

test('a start that cannot migrate the database leaves no lease on it behind', async () => {
  const store = await emptyServer();
  await store.command(
    'CREATE TABLE migrations (name String, checksum String) ENGINE = ReplacingMergeTree ORDER BY name',
  );
  await store.insert('migrations', [{ name: '9999_of_tomorrow.sql', checksum: 'x' }]);
  const refused = prepareStore(await openServer(urlOf(store), null), readConfig({}), logger, PATIENT);
  await expect(refused).rejects.toThrow('9999_of_tomorrow.sql, which this version does not know');
  expect(await tablesOf(store)).toEqual(['migrations']);
});

test('a start that loses the lease while it migrates does not claim the database, and leaves the new lease alone', async () => {
  const store = await emptyServer();
  const own = await openServer(urlOf(store), null);
  const leaseTable = () =>
    store.query("SELECT uuid FROM system.tables WHERE database = currentDatabase() AND name = 'log_lease'");
  let taken: unknown;
  const looks: (string | undefined)[] = [];
  const robbed: Store = {
    ...own,
    query: async (sql, params) => {
      const rows = await own.query<never>(sql, params);
      if (params?.name === 'log_lease') looks.push((rows[0] as { uuid: string } | undefined)?.uuid);
      return rows;
    },
    command: async (sql, params) => {
      await own.command(sql, params);
      if (!sql.includes('EXISTS migrations') || taken !== undefined) return;
      await store.command('DROP TABLE log_lease SYNC');
      await store.command("CREATE TABLE log_lease (nothing UInt8) ENGINE = Memory COMMENT 'another 1'");
      taken = await leaseTable();
      // The first holder has looked, and seen that the lease is another's.
      await awaited(() => expect(looks.at(-1)).not.toBe(looks[0]));
    },
  };
  const refused = prepareStore(robbed, readConfig({}), logger, PATIENT);
  await expect(refused).rejects.toThrow(RetryableError);
  await expect(refused).rejects.toThrow('another npm start may have taken it meanwhile: start again');
  expect(await store.query('SELECT * FROM indexed_program')).toEqual([]);
  expect(await leaseTable()).toEqual(taken);
});

test('a first start runs no INSERT … SELECT of a migration, although its lease table exists by then', async () => {
  const store = await emptyServer();
  const statements: string[] = [];
  const telling = (close: () => Promise<void>): Store => ({
    ...store,
    close,
    command: async (sql, params) => {
      statements.push(sql);
      await store.command(sql, params);
    },
  });
  const own: Store = { ...telling(store.close), patient: () => telling(async () => {}) };
  const lease = await prepareStore(own, readConfig({}), logger, PATIENT);
  await lease?.release();
  expect(statements.filter((sql) => sql.startsWith('INSERT'))).toEqual([]);
  expect(statements.length).toBeGreaterThan(20);
});

test('a half-written part of the embedded index is reported at the next start, and only then', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'stores-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const config = readConfig({ DATA_DIR: directory });
  const told: unknown[] = [];
  const listening = { ...logger, error: (fields: unknown) => told.push(fields) } as unknown as typeof logger;
  const opened = async (work: (store: Store) => Promise<void>) => {
    const { store } = await openStores(config, listening);
    await work(store).finally(() => store.close());
  };

  let part = '';
  await opened(async (store) => {
    await store.command('CREATE TABLE kept (a UInt64) ENGINE = MergeTree ORDER BY a');
    await store.command('SYSTEM STOP MERGES kept');
    await store.insert('kept', [{ a: '1' }]);
    await store.insert('kept', [{ a: '2' }]);
    const found = await store.query<{ path: string }>(
      "SELECT path FROM system.parts WHERE database = currentDatabase() AND table = 'kept' ORDER BY name",
    );
    part = found[1]?.path as string;
  });
  expect(told).toEqual([]);
  truncateSync(path.join(part, 'data.bin'), 0);
  const rows = async (store: Store) => expect(await store.query('SELECT a FROM kept')).toEqual([{ a: '1' }]);
  await opened(rows);
  const once = [{ parts: 1, directory: path.join(directory, 'clickhouse') }];
  expect(told).toEqual(once);
  await opened(rows);
  expect(told).toEqual(once);
});
