import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { switchServing } from '../../clickhouse/serving/serving.ts';
import { readConfig } from '../../runtime/config/config.ts';
import { createLogger } from '../../runtime/process/log.ts';
import { untilAnotherServes } from '../../start/other-serving.ts';
import { BROUGHT_FURTHER, bringFurther } from '../clickhouse/support/newer-schema.ts';
import { awaited } from '../support/awaited.ts';
import { openDatabases } from '../support/databases.ts';
import { placeEmbedded } from '../support/pglite.ts';
import { openSwitchboard } from '../support/switchboard.ts';

const MAIN = path.resolve(import.meta.dirname, '../../start/main.ts');
const NOBODY = '127.0.0.1:1';
const SENTENCE = 'another database of CLICKHOUSE_URL serves by now';

test('npm start ends when a replay switches databases; started again, it uses the new one until that is migrated further', async () => {
  const databases = await openDatabases();
  const directory = mkdtempSync(path.join(tmpdir(), 'other-serving-'));
  await placeEmbedded(path.join(directory, 'postgres'));
  const children: { child: ChildProcess; ended: Promise<unknown[]> }[] = [];
  onTestFinished(async () => {
    for (const { child } of children) child.kill('SIGKILL');
    await Promise.all(children.map(({ ended }) => ended));
    await databases.close();
    rmSync(directory, { recursive: true });
  });
  const start = () => {
    const child = spawn(process.execPath, [MAIN], {
      env: {
        ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
        ...{ DATA_DIR: directory, PORT: '0', CLICKHOUSE_URL: databases.url, LOG_LEVEL: 'fatal' },
        ...{ YELLOWSTONE_ENDPOINT: NOBODY, SOLANA_RPC_URL: `http://${NOBODY}` },
      },
    });
    const ended = once(child, 'exit');
    children.push({ child, ended });
    child.stdout.resume();
    return { said: text(child.stderr), ended };
  };
  /** Waits until the process holds the lease of the database. */
  const holdsIt = async (name: string) => {
    const found = await databases.home.query(
      "SELECT 1 FROM system.tables WHERE database = {name:String} AND name = 'log_lease'",
      { name },
    );
    expect(found).toHaveLength(1);
  };
  const { home } = databases;
  const first = start();
  await awaited(() => holdsIt(home.database), 200);
  await databases.openMigrated(`${home.database}_r1`);
  await switchServing(home, { from: home.database, to: `${home.database}_r1` }, null);
  const [code] = await first.ended;
  expect([code, await first.said]).toEqual([1, expect.stringContaining(SENTENCE)]);
  const again = start();
  const next = await databases.open(`${home.database}_r1`);
  // Written after its own migrations.
  await awaited(async () => expect(await next.query('SELECT 1 FROM indexed_program')).toHaveLength(1), 200);
  await bringFurther(next);
  expect([(await again.ended)[0], await again.said]).toEqual([1, expect.stringContaining(BROUGHT_FURTHER)]);
});

test('npm start does not end for a lagging replica that names the database that served before', async () => {
  const databases = await openDatabases();
  const { home, url } = databases;
  onTestFinished(databases.close);
  const replayed = (number: number) => `${home.database}_r${number}`;
  const options = { logger: createLogger('silent', 'test'), signal: new AbortController().signal };
  const watched = (database: string, version: bigint, clickhouse = url) =>
    untilAnotherServes(
      readConfig({ CLICKHOUSE_URL: clickhouse }),
      { store: home, serving: { database, version } },
      options,
    );
  await databases.openMigrated(replayed(2));
  await switchServing(home, { from: home.database, to: replayed(1) }, null);
  const way = await openSwitchboard();
  onTestFinished(way.close);
  let looks = 0;
  way.answer((socket) => {
    socket.on('data', (sent) => {
      if (sent.includes('system.databases')) looks += 1;
    });
    const engine = net.connect(Number(new URL(url).port), '127.0.0.1');
    engine.on('error', () => socket.destroy());
    socket.pipe(engine).pipe(socket);
  });
  let isEnded = false;
  const byWay = new URL(url);
  byWay.port = String(way.port);
  const ahead = watched(replayed(2), 2n, byWay.href).finally(() => {
    isEnded = true;
  });
  ahead.catch(() => undefined);
  await expect(watched(home.database, 0n)).rejects.toThrow(SENTENCE);
  // Wait for a second look: the first one saw no reason to end.
  await awaited(() => expect(isEnded || looks > 1).toBe(true));
  expect(isEnded).toBe(false);
  await switchServing(home, { from: replayed(1), to: replayed(2) }, null);
  await switchServing(home, { from: replayed(2), to: replayed(3) }, null);
  await expect(ahead).rejects.toThrow(SENTENCE);
  // The home is new, or older than that switch: it names an older database, and ours is not there.
  await expect(watched(replayed(4), 4n)).rejects.toThrow(SENTENCE);
});
