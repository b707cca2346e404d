import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { key } from '../api/support/rows.ts';
import { serveAnswers } from '../support/answering.ts';
import { awaited } from '../support/awaited.ts';
import { freePort } from '../support/free-port.ts';

const MAIN = path.resolve(import.meta.dirname, '../../start/main.ts');

test('a node that told ingestion to back off is not asked on behalf of agents either', async () => {
  const node = await serveAnswers(() => ({ status: 429, headers: { 'retry-after': '600' }, body: 'busy' }));
  const directory = mkdtempSync(path.join(tmpdir(), 'left-alone-'));
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN], {
    cwd: directory,
    env: {
      ...{ DATA_DIR: directory, PORT: String(port), UV_THREADPOOL_SIZE: '16' },
      ...{ YELLOWSTONE_ENDPOINT: '127.0.0.1:1', SOLANA_RPC_URL: node.url },
      // Requests for agents always use `confirmed`, so this tells them apart from ingestion's.
      COMMITMENT: 'finalized',
    },
    stdio: 'ignore',
  });
  // Listen from the start: a process that ends by itself emits this once.
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    await node.close();
    rmSync(directory, { recursive: true });
  });
  await awaited(() => expect(node.asked).not.toEqual([]));
  await awaited(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/agent/challenge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ mint: key('coin'), agent: key('agent') }),
    });
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'chain_unreachable' }]);
  }, 200);
  expect(node.asked.filter(({ body }) => JSON.stringify(body).includes('"confirmed"'))).toEqual([]);
});
