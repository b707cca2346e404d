import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openEmbedded, openServer, type Store } from '../../clickhouse/client.ts';
import { openSessions } from '../../clickhouse/embedded/sessions.ts';
import { withLowPriorityThreads } from '../../clickhouse/embedded/thread-priority.ts';
import { migrate } from '../../clickhouse/schema/migrate.ts';
import { awaited } from '../support/awaited.ts';
import { serveStatements } from './support/stub-server.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'embedded-test-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('closing a store lets pending queries finish and refuses later ones', async () => {
  const store = await openEmbedded(directory);
  const asked = Array.from({ length: 12 }, (_, at) =>
    store.query<{ at: number }>('SELECT {at:UInt8} AS at, sleepEachRow(0.005) AS s', { at }),
  );
  await store.close();
  expect((await Promise.all(asked)).map(([row]) => row?.at)).toEqual(asked.map((_, at) => at));
  await expect(store.query('SELECT 1')).rejects.toThrow('the database was closed');
  await store.close();
});

test('compilation of expressions is off on main and aside connections', async () => {
  const store = await openEmbedded(directory);
  const aside = store.aside?.(1) as Store;
  for (const one of [store, aside]) {
    const rows = await one.query<{ name: string }>(
      `SELECT name FROM system.settings WHERE name LIKE 'compile\\_%' AND value = '1' ORDER BY name`,
    );
    expect(rows).toEqual([]);
  }
  await store.close();
});

test('an aside store answers while all connections of the main one are busy, and closes with it', async () => {
  const store = await openEmbedded(directory);
  const aside = store.aside?.(1) as Store;
  let done = 0;
  const busy = Array.from({ length: 12 }, () =>
    store.query('SELECT sleepEachRow(2)').then(() => {
      done += 1;
    }),
  );
  expect(await aside.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  // Over the four sessions of the main store it would be answered only after nine of the busy queries.
  expect(done).toBeLessThan(9);
  await Promise.all(busy);
  await store.close();
  await expect(aside.query('SELECT 1')).rejects.toThrow('the database was closed');
});

test.runIf(process.platform === 'linux')(
  'withLowPriorityThreads lowers the priority of the engine’s pool threads and not of the main thread',
  async () => {
    const own = os.getPriority();
    const store = await withLowPriorityThreads(() => openEmbedded(directory));
    expect(await store.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const threads = readdirSync('/proc/self/task');
    const asked = threads.filter((id) => /^libuv/.test(readFileSync(`/proc/self/task/${id}/comm`, 'utf8')));
    expect(asked.length).toBeGreaterThan(0);
    for (const id of asked) expect(os.getPriority(Number(id))).toBe(Math.min(19, own + 5));
    expect(os.getPriority()).toBe(own);
    await store.close();
  },
);

test('rows written before a close are there when the directory is opened again', async () => {
  const first = await openEmbedded(directory);
  await migrate(first, null);
  await first.insert('metadata_documents', [
    { mint: 'm', read_at: '1', uri: 'u', image_url: null, error: null },
  ]);
  await first.close();
  const second = await openEmbedded(directory);
  expect(await migrate(second, null)).toEqual([]);
  expect(await second.query('SELECT mint, uri FROM metadata_documents')).toEqual([{ mint: 'm', uri: 'u' }]);
  await second.close();
});

test('rows piped into standard input are not inserted and make no insert fail', async () => {
  const sessions = new URL('../../clickhouse/embedded/sessions.ts', import.meta.url).href;
  const program = `
    const { openSessions } = await import(${JSON.stringify(sessions)});
    await new Promise((resolve) => process.once('message', resolve));
    process.disconnect();
    const sessions = await openSessions(process.argv[1], 'bankroll', 2);
    await sessions.run('CREATE TABLE seen (n UInt64) ENGINE = MergeTree ORDER BY n', 'TSV');
    const insert = (n) => sessions.run('INSERT INTO seen FORMAT JSONEachRow\\n{"n":' + n + '}', 'TSV');
    await Promise.all([1, 2].map(insert));
    console.log((await sessions.run('SELECT n FROM seen ORDER BY n', 'TSV')).trim().split('\\n').join());
    await sessions.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, directory], {
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  });
  // Standard input stays open, as a supervisor's does, and holds rows before the engine is opened, which closes it.
  child.stdin?.write('{"n":3}\n{"n":4}\n', () => child.send('begin'));
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout as Readable),
    text(child.stderr as Readable),
    once(child, 'exit'),
  ]);
  expect({ output, errors, code }).toEqual({ output: '1,2\n', errors: '', code: 0 });
});

describe('a query that the engine does not answer in time', () => {
  const LIMIT_MS = 8_000;
  const slow = (seconds: number) =>
    `SELECT sum(sleepEachRow(1)) FROM numbers(${seconds}) SETTINGS max_block_size = 1`;
  const FAILS = 'the embedded engine has not answered for 8 s: SELECT sum(sleepEachRow(1))';

  test('fails, later queries use a new session, and its own session is closed once it answers', async () => {
    const open = (path: string) => openSessions(path, 'bankroll', 1, LIMIT_MS);
    const sessions = await open(directory);
    await expect(sessions.run(slow(12), 'TSV')).rejects.toThrow(FAILS);
    const asked = "SELECT currentDatabase(), getSetting('max_execution_time')";
    expect(await sessions.run(asked, 'TSV')).toBe('bankroll\t60\n');
    await sessions.close();
    // A process opens another directory once no session is left on this one.
    const next = await awaited(() => open(path.join(directory, 'another')), 100);
    await next.close();
  });

  test('does not keep the process from exiting', async () => {
    const sessions = new URL('../../clickhouse/embedded/sessions.ts', import.meta.url).href;
    const program = `
      const { openSessions } = await import(${JSON.stringify(sessions)});
      const sessions = await openSessions(process.argv[1], 'bankroll', 1, ${LIMIT_MS});
      await sessions.run(${JSON.stringify(slow(60))}, 'TSV').catch(({ message }) => console.log(message));
      process.exit(0);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program, directory]);
    const [output, errors, [code, signal]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    expect(output).toContain(FAILS);
    expect(errors).toBe('the embedded engine holds a question that it never answered: ending without it\n');
    expect({ code, signal }).toEqual({ code: null, signal: 'SIGKILL' });
  });
});

test('the embedded database has the engine Atomic, and an invalid database name is refused', async () => {
  const store = await openEmbedded(directory, 'another');
  expect(await store.query('SELECT engine FROM system.databases WHERE name = currentDatabase()')).toEqual([
    { engine: 'Atomic' },
  ]);
  await store.close();
  await expect(openEmbedded(directory, 'x; DROP')).rejects.toThrow('no database name');
});

test('what a statement had answered before it failed is in no other answer', async () => {
  const store = await openEmbedded(directory);
  const failing = 'SELECT number AS mine, throwIf(number = 199999) AS fails FROM numbers(200000)';
  const sql = 'SELECT 7 AS mine';
  for (const form of ['query', 'lines', 'command'] as const) {
    await expect(store[form](failing)).rejects.toThrow('throwIf');
    // The session that failed last is the first to be used again.
    expect(await store.lines(sql)).toBe('["mine"]\n[7]\n');
    await expect(store[form](failing)).rejects.toThrow('throwIf');
    expect(await store.query(sql)).toEqual([{ mine: 7 }]);
  }
  await store.close();
});

test('a store opened to read sends only its queries; one opened to write checks and creates its database', async () => {
  const server = await serveStatements(() => []);
  const asked = () => server.told.map(({ sql }) => sql);
  const reader = await openServer(`${server.url}/bankroll`, null, 'read');
  await reader.query('SELECT 1');
  expect(asked()).toEqual([expect.stringMatching(/^SELECT 1/)]);
  await (await openServer(`${server.url}/bankroll`, null)).close();
  expect(asked().slice(1)).toEqual([
    expect.stringMatching(/ FROM system\.databases /),
    expect.stringMatching(/^CREATE DATABASE IF NOT EXISTS/),
  ]);
  await reader.close();
  await server.close();
});
