import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { followServing } from '../../../clickhouse/serving/follow-serving.ts';
import { switchServing } from '../../../clickhouse/serving/serving.ts';
import { aborted } from '../../../runtime/process/lifecycle.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { bringFurther } from '../../clickhouse/support/newer-schema.ts';
import { awaited } from '../../support/awaited.ts';
import { type Databases, openDatabases } from '../../support/databases.ts';

const logger = createLogger('silent', 'test');
let databases: Databases;
let home: Store;
let next: string;
beforeEach(async () => {
  databases = await openDatabases();
  ({ home } = databases);
  next = `${home.database}_r1`;
  await databases.openMigrated(next);
});
afterEach(() => databases.close());

const noted = () => {
  const notes: string[] = [];
  const openDatabase = async (name: string): Promise<Store> => ({
    ...(await databases.open(name)),
    close: async () => void notes.push(`closed ${name}`),
  });
  return { notes, openDatabase };
};

test('work ends in one database before it begins in the next serving one, until it is stopped', async () => {
  const { notes, openDatabase } = noted();
  const stop = new AbortController();
  const following = followServing(
    { home, openDatabase, logger, signal: stop.signal },
    async ({ database }, signal) => {
      notes.push(`begins ${database}`);
      await aborted(signal);
      notes.push(`ends ${database}`);
    },
  );
  await awaited(() => expect(notes).toContain(`begins ${home.database}`));
  await switchServing(home, { from: home.database, to: next }, null);
  await awaited(() => expect(notes).toContain(`begins ${next}`));
  stop.abort();
  await following;
  expect(notes).toEqual([
    ...[`begins ${home.database}`, `ends ${home.database}`],
    ...[`begins ${next}`, `ends ${next}`, `closed ${next}`],
  ]);
});

test('work that fails is not started again, and its database is closed', async () => {
  const { notes, openDatabase } = noted();
  await switchServing(home, { from: home.database, to: next }, null);
  const options = { home, openDatabase, logger, signal: new AbortController().signal };
  const failing = followServing(options, async () => {
    throw new Error('no use');
  });
  await expect(failing).rejects.toThrow('no use');
  expect(notes).toEqual([`closed ${next}`]);
});

test('work that writes nothing to the database goes on after a newer version has migrated it', async () => {
  const stop = new AbortController();
  let looks = Number.NEGATIVE_INFINITY;
  const looking: Store = {
    ...home,
    query: (sql, params) => {
      looks += 1;
      return home.query(sql, params);
    },
  };
  const ended: string[] = [];
  const following = followServing(
    { home: looking, openDatabase: databases.open, logger, signal: stop.signal },
    async ({ database }, signal) => {
      await bringFurther(home);
      looks = 0;
      await aborted(signal);
      ended.push(database);
    },
  );
  // At least one look was begun after it, and has ended.
  await awaited(() => expect(looks > 2 || ended.length > 0).toBe(true));
  expect(ended).toEqual([]);
  stop.abort();
  await following;
});

test('work waits for a serving database of an older schema to be migrated', async () => {
  const old = `${home.database}_r2`;
  await databases.open(old);
  await switchServing(home, { from: home.database, to: old }, null);
  const stop = new AbortController();
  const begun: string[] = [];
  const following = followServing(
    { home, openDatabase: databases.open, logger, signal: stop.signal },
    async ({ database }, signal) => {
      begun.push(database);
      await aborted(signal);
    },
  );
  await databases.openMigrated(old);
  await awaited(() => expect(begun).toEqual([old]));
  stop.abort();
  await following;
});
