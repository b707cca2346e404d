import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { createChain } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';
import { createRandom } from '../../devnet/program/state/random.ts';
import { awaited } from '../support/awaited.ts';
import { createHarness, type Status } from './harness.ts';

const SEED = process.env.SCENARIO_SEED ?? 'kill-1';
const KILLS = 10;
const HOUR_SLOTS = 9_000n;
/** So long that no stream is started again while its chain rests: without a replay it would know less. */
const SILENCE_MS = 1_200_000;
const MAIN = path.resolve(import.meta.dirname, '../../start/main.ts');
/** Preloaded into every process, the local chain's too. */
const KEEP_COMPILED = path.resolve(import.meta.dirname, '../support/keep-compiled.ts');
/** The past is made before the stream is followed, so it is read over RPC. */
const FLAGS = ['--seed', SEED, '--policies', '30', '--history', '400', '--past', '0', '--rate', '10'];
const directory = mkdtempSync(path.join(tmpdir(), 'kill-'));
const started = new Set<ChildProcess>();

afterAll(async () => {
  for (const child of started) await kill(child);
  rmSync(directory, { recursive: true, force: true });
});

interface Launched {
  child: ChildProcess;
  /** Resolves with the base URL once it serves; rejects where it ends before. */
  serving: Promise<string>;
  /** Its exit code, or the signal that ended it. */
  ended: Promise<number | string | null>;
  /** All that it wrote to its standard error, once it has ended. */
  errors: Promise<string>;
}

/** The whole system as a process group of its own, as `npm start` runs it. */
function launch(): Launched {
  const env = {
    ...{ ...process.env, DATA_DIR: directory, PORT: '0', UV_THREADPOOL_SIZE: '16' },
    NODE_OPTIONS: `--import=${KEEP_COMPILED}`,
  };
  const child = spawn(process.execPath, [MAIN, ...FLAGS], {
    detached: true,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.add(child);
  const ended = new Promise<number | string | null>((resolve) => {
    child.once('exit', (code, signal) => {
      started.delete(child);
      resolve(signal ?? code);
    });
  });
  const serving = new Promise<string>((resolve, reject) => {
    void ended.then((how) => reject(new Error(`ended with ${how} before it served`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const found = /is serving (\S+)/.exec(line);
      if (found !== null) resolve(found[1] as string);
    });
  });
  serving.catch(() => {});
  return { child, serving, ended, errors: text(child.stderr as NodeJS.ReadableStream) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  process.kill(-(child.pid as number), 'SIGKILL');
  await gone;
}

async function statusAt(url: string): Promise<Status['indexer']> {
  const answer = await fetch(`${url}/status`);
  return ((await answer.json()) as Status).indexer;
}

interface Hour {
  byQuote: { bankroll: { absent?: true } }[];
}

/** The first of the systems that are killed. */
let first: Launched;

test('a second npm start on the same directory exits with code 1, names the process that uses it, and that goes on serving', async () => {
  first = launch();
  const url = await first.serving;
  expect((await fetch(`${url}/health`)).status).toBe(200);
  const second = launch();
  await expect(second.serving).rejects.toThrow('ended with 1 before it served');
  // One sentence, and no stack.
  const sentence = new RegExp(
    `^DATA_DIR ${directory} is in use by process ${first.child.pid}: stop that one, .*\\n$`,
  );
  expect(await second.errors).toMatch(sentence);
  expect((await fetch(`${url}/health`)).status).toBe(200);
});

test(`every route equals the ledger after ${KILLS} kills of the whole process group (SCENARIO_SEED=${SEED})`, async () => {
  const random = createRandom(`kills:${SEED}`);
  for (let round = 0; round < KILLS; round += 1) {
    const { child, serving } = round === 0 ? first : launch();
    // Kill it at any moment: while it starts, reads history or follows the chain.
    if (round % 3 !== 1) await serving;
    await delay(random.int(0, 3_000));
    await kill(child);
  }
  const last = launch();
  const url = await last.serving;
  await awaited(async () => expect((await statusAt(url)).history.complete).toBe(true), 200);
  last.child.kill('SIGTERM');
  expect(await last.ended).toBe(0);

  const chain = createChain({ dir: path.join(directory, 'devnet'), seed: SEED, genesisTime: 0 });
  const harness = await createHarness({
    ...{ chain, directory, retentionSlots: 1_000_000, silenceMs: SILENCE_MS, polled: true },
  });
  try {
    await harness.start();
    await harness.expectExact({ everyOrder: true });
    const policies = chain.state().policies.size;
    expect(policies).toBeGreaterThan(0);
    const exactAt = chain.timeOf(chain.tip().slot);
    // What it received in the hours of the kills is not known; in the next hours it receives everything.
    const life = createLife(chain, { seed: SEED, policies, rate: 10 });
    for (let hours = 0; hours < 2; hours += 1) {
      for (let slots = 0; slots < 5; slots += 1) await chain.produce(life.next());
      chain.skipTo(chain.tip().slot + HOUR_SLOTS);
    }
    for (let slots = 0; slots < 5; slots += 1) await chain.produce(life.next());
    await harness.expectExact({ histories: policies });
    const { items } = (await harness.get(`/analytics/history?step=hour&from=${exactAt}`)) as {
      items: Hour[];
    };
    const told = items.slice(1, -1).flatMap(({ byQuote }) => byQuote.map(({ bankroll }) => !bankroll.absent));
    expect(new Set(told), 'whether hours that were streamed are told').toEqual(new Set([true]));
  } finally {
    await harness.close();
    chain.close();
  }
});
