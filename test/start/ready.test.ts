import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { awaited } from '../support/awaited.ts';
import { freePort } from '../support/free-port.ts';

const MAIN = path.resolve(import.meta.dirname, '../../start/main.ts');
const NOWHERE = '127.0.0.1:1';

test('/ready answers 503 and names the stores while they are not opened yet', async () => {
  const asked = Promise.withResolvers<void>();
  const silent = http.createServer(() => asked.resolve()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const directory = mkdtempSync(path.join(tmpdir(), 'ready-'));
  const metricsPort = await freePort();
  const child = spawn(process.execPath, [MAIN], {
    cwd: directory,
    env: {
      ...{ DATA_DIR: directory, PORT: '0', METRICS_PORT: String(metricsPort) },
      ...{ YELLOWSTONE_ENDPOINT: NOWHERE, SOLANA_RPC_URL: `http://${NOWHERE}` },
      CLICKHOUSE_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/index`,
    },
    stdio: 'ignore',
  });
  // Listen from the start: a process that ends by itself emits this once.
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    silent.close().closeAllConnections();
    rmSync(directory, { recursive: true });
  });
  const ready = async () => {
    const answer = await fetch(`http://127.0.0.1:${metricsPort}/ready`);
    return { status: answer.status, body: await answer.json() };
  };
  const body = { ready: false, missing: ['ClickHouse: not opened yet', 'Postgres: not opened yet'] };
  expect(await awaited(ready)).toEqual({ status: 503, body });
  await asked.promise;
  expect(await ready()).toEqual({ status: 503, body });
});
