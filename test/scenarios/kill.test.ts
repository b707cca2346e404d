import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { createChain } from '../../devnet/chain.ts';
import { createHarness, seeded } from './harness.ts';

const SEED = process.env.SCENARIO_SEED ?? 'kill-1';
const KILLS = process.env.SCENARIO === 'full' ? 10 : 3;
const MAIN = path.resolve(import.meta.dirname, '../../start/main.ts');
const directory = mkdtempSync(path.join(tmpdir(), 'kill-'));

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The whole system as a process group of its own, as `npm start` runs it; resolves once it serves. */
function launch(): { child: ChildProcess; serving: Promise<string> } {
  const flags = ['--seed', SEED, '--policies', '30', '--history', '400', '--rate', '10'];
  const env = { ...process.env, DATA_DIR: directory, PORT: '0', UV_THREADPOOL_SIZE: '16' };
  const child = spawn(process.execPath, [MAIN, ...flags], {
    detached: true,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const serving = new Promise<string>((resolve, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`ended with ${signal ?? code} before it served`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const found = /is serving (\S+)/.exec(line);
      if (found !== null) resolve(found[1] as string);
    });
  });
  serving.catch(() => {});
  return { child, serving };
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  process.kill(-(child.pid as number), 'SIGKILL');
  await gone;
}

test(`every figure equals the ledger after ${KILLS} kills of the whole group (seed ${SEED})`, async () => {
  const random = seeded(SEED);
  for (let round = 0; round < KILLS; round += 1) {
    const { child, serving } = launch();
    await serving;
    // The moment is the fault: anywhere in the first seconds of serving.
    await new Promise((resolve) => setTimeout(resolve, random() * 3_000));
    await kill(child);
  }
  const chain = createChain({ dir: path.join(directory, 'devnet'), seed: SEED, genesisTime: 0 });
  const harness = await createHarness(chain, directory, 600);
  try {
    await harness.start();
    await harness.expectExact();
  } finally {
    await harness.close();
    chain.close();
  }
}, 600_000);

test('a second system on the same directory stops with a sentence that says so', async () => {
  const first = launch();
  const url = await first.serving;
  expect((await fetch(`${url}/health`)).status).toBe(200);
  const second = launch();
  await expect(second.serving).rejects.toThrow('ended with 1 before it served');
  const ended = new Promise((resolve) => first.child.once('exit', resolve));
  first.child.kill('SIGTERM');
  expect(await ended).toBe(0);
});
