import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  abandonReplay,
  beginReplay,
  finishReplay,
  unfinishedReplay,
} from '../../clickhouse/serving/replays.ts';
import { openServing, readServing, replayNumber, switchServing } from '../../clickhouse/serving/serving.ts';
import { emptyDatabase } from '../support/database.ts';
import { type Databases, openDatabases } from '../support/databases.ts';

let databases: Databases;
beforeEach(async () => {
  databases = await openDatabases();
});
afterEach(() => databases.close());

const named = (number: number) => `${databases.home.database}_r${number}`;

test('home is the serving database before the first switch, also while it has no schema', async () => {
  const { home } = databases;
  expect(await readServing(home)).toEqual({ database: home.database, version: 0n });
  const empty = await emptyDatabase();
  expect(await readServing(empty)).toEqual({ database: empty.database, version: 0n });
  await empty.close();
});

test('each switch raises the version by one, also a switch back to home', async () => {
  const { home } = databases;
  await switchServing(home, { from: home.database, to: named(1) }, null);
  expect(await readServing(home)).toEqual({ database: named(1), version: 1n });
  await switchServing(home, { from: named(1), to: home.database }, null);
  expect(await readServing(home)).toEqual({ database: home.database, version: 2n });
});

test('a switch from a database that no longer serves is refused; repeating a finished one changes nothing', async () => {
  const { home } = databases;
  await switchServing(home, { from: home.database, to: named(1) }, null);
  await switchServing(home, { from: home.database, to: named(1) }, null);
  await expect(switchServing(home, { from: home.database, to: named(2) }, null)).rejects.toThrow(
    `${named(1)} serves by now, not ${home.database}`,
  );
  expect(await readServing(home)).toEqual({ database: named(1), version: 1n });
});

test('of two concurrent switches exactly one succeeds', async () => {
  const { home } = databases;
  const both = await Promise.allSettled(
    [1, 2].map((number) => switchServing(home, { from: home.database, to: named(number) }, null)),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect((await readServing(home)).version).toBe(1n);
});

test('a serving row that names a database other than home’s replays is an error', async () => {
  const { home } = databases;
  for (const database of ['system', `${home.database}_r0`, `${home.database}_r1; DROP`, `x_r1`]) {
    await home.command('TRUNCATE TABLE serving');
    await home.insert('serving', [{ version: '1', database }]);
    await expect(readServing(home)).rejects.toThrow('no database of its replays');
    expect(replayNumber(home.database, database)).toBe(null);
  }
});

test('openServing opens the database that serves now, with the login of home’s URL', async () => {
  const { home, url } = databases;
  await databases.open(named(1));
  await switchServing(home, { from: home.database, to: named(1) }, null);
  const login = new URL(url);
  login.username = 'reader';
  const store = await openServing(login.href, null, 'read');
  // With any other login the tests' engine allows writes.
  const sql = `SELECT currentDatabase() AS name, getSetting('readonly') AS readonly`;
  expect(await store.query(sql)).toEqual([{ name: named(1), readonly: 2 }]);
  await store.close();
});

test('an unfinished replay is found until it is abandoned or finished, and no database name is used twice', async () => {
  const { home } = databases;
  expect(await unfinishedReplay(home)).toBe(null);
  expect(await beginReplay(home, 'code')).toBe(named(1));
  expect(await unfinishedReplay(home)).toEqual({ database: named(1), code: 'code' });
  await abandonReplay(home, named(1));
  expect(await unfinishedReplay(home)).toBe(null);
  expect(await beginReplay(home, 'code')).toBe(named(2));
  await finishReplay(home, named(2));
  expect(await unfinishedReplay(home)).toBe(null);
  await databases.open(named(7));
  expect(await beginReplay(home, 'code')).toBe(named(8));
});
