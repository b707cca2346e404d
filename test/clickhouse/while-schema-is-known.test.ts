import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { migrate, migrations, schemaMustBeKnown } from '../../clickhouse/schema/migrate.ts';
import { whileSchemaIsKnown } from '../../clickhouse/schema/while-schema-is-known.ts';
import { aborted } from '../../runtime/process/lifecycle.ts';
import { createLogger } from '../../runtime/process/log.ts';
import { awaited, PATIENCE_MS } from '../support/awaited.ts';
import { emptyDatabase } from '../support/database.ts';
import { openSwitchboard, type Switchboard } from '../support/switchboard.ts';
import { BROUGHT_FURTHER, bringFurther, NEWER } from './support/newer-schema.ts';

/** Migration files of a later version, put in place while this version runs. */
const later = vi.hoisted((): { files: string[] } => ({ files: [] }));
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const readdirSync = (directory: string) =>
    directory.endsWith('clickhouse/migrations')
      ? [...fs.readdirSync(directory), ...later.files]
      : fs.readdirSync(directory);
  const readFileSync = (file: string, how: 'utf8') =>
    later.files.some((name) => file.endsWith(name)) ? NEWER.sql : fs.readFileSync(file, how);
  return { ...fs, readdirSync, readFileSync };
});

const logger = createLogger('silent', 'test');
let store: Store;
beforeEach(async () => {
  store = await emptyDatabase();
  await migrate(store, null);
});
afterEach(() => store.close());

/** Starts work on the database, and notes the outcome of each look at its version. */
function atWork(at = store) {
  const looks: string[] = [];
  const stop = new AbortController();
  const look = () =>
    schemaMustBeKnown(at).then(
      () => void looks.push('known'),
      (error) => {
        looks.push('refused');
        throw error;
      },
    );
  const done = whileSchemaIsKnown(look, { logger, signal: stop.signal }, async (signal) => {
    await aborted(signal);
    if (!stop.signal.aborted) throw new Error('ended before its time');
    return 'done';
  });
  done.catch(() => undefined);
  const again = async (what: string) => {
    const before = looks.length;
    await awaited(() => expect(looks.slice(before + 1)).toContain(what));
  };
  return { looks, again, done, stop: () => stop.abort() };
}

test('a writer goes on after a migrate of its own version, on an older schema, and while the check fails', async () => {
  const work = atWork();
  expect(await migrate(store, null)).toEqual([]);
  await work.again('known');
  const ledger = migrations().map(({ name, checksum }) => ({ name, checksum }));
  await store.command('TRUNCATE TABLE migrations');
  await store.insert('migrations', ledger.slice(0, -1));
  await work.again('known');
  await store.command('RENAME TABLE migrations TO others');
  await work.again('refused');
  await store.command('RENAME TABLE others TO migrations');
  await work.again('known');
  work.stop();
  expect(await work.done).toBe('done');
});

describe('while the server is away', () => {
  let board: Switchboard;
  let away: Store;
  beforeEach(async () => {
    board = await openSwitchboard();
    away = await openServer(`http://127.0.0.1:${board.port}/${store.database}`, null, 'read', PATIENCE_MS);
  });
  afterEach(async () => {
    await board.close();
    await away.close();
  });

  test('a writer goes on, and once it is back a newer version’s migration still stops it', async () => {
    board.answer((socket) => socket.destroy());
    const work = atWork(away);
    await work.again('refused');
    expect(work.looks).not.toContain('known');
    board.connect(Number(new URL(inject('clickhouseUrl')).port));
    await work.again('known');
    await bringFurther(store);
    await expect(work.done).rejects.toThrow(BROUGHT_FURTHER);
  });

  test('a writer that is stopped ends without waiting for the answer to a check', async () => {
    const work = atWork(away);
    await awaited(() => expect(board.connections()).toBeGreaterThan(0));
    work.stop();
    expect(await work.done).toBe('done');
    expect(work.looks).toEqual([]);
  });
});

test('a newer version’s migration stops the writer, whose error names it even if the work failed otherwise', async () => {
  const work = atWork();
  await bringFurther(store);
  await expect(work.done).rejects.toThrow(BROUGHT_FURTHER);
  expect(work.looks.filter((look) => look === 'refused')).toHaveLength(1);
});

test('a newer version’s migration stops the writer also if that version’s files are already in place', async () => {
  const work = atWork();
  later.files.push(NEWER.name);
  await bringFurther(store);
  await expect(work.done).rejects.toThrow(BROUGHT_FURTHER);
  later.files.pop();
});
