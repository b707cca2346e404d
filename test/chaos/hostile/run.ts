import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { awaited } from '../../support/awaited.ts';
import { placeEmbedded } from '../../support/pglite.ts';
import { DEAD_GATEWAY, deadNames } from './dead-names.ts';
import { honestClients, type Met } from './honest.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const FLAGS = ['--policies', '16', '--history', '120', '--past', '0'];

export interface Outcome {
  alone: Met;
  beside: Met;
  /** Whether the product still ran at the end. */
  alive: boolean;
  /** How often the product asked for names that are never resolved. */
  namesAsked: number;
}

/** Runs honest clients alone, then beside hostile ones of every kind at once, on the whole product. */
export async function runHostile(options: {
  seed: string;
  aloneSeconds: number;
  share: number;
  seconds: number;
}): Promise<Outcome> {
  const directory = mkdtempSync(path.join(tmpdir(), 'hostile-'));
  await placeEmbedded(path.join(directory, 'postgres'));
  const names = await deadNames();
  const env = {
    ...{ ...process.env, DATA_DIR: directory, PORT: '0', TRUST_PROXY: '1', LOG_LEVEL: 'error' },
    ...names.env,
    // As many threads as `npm start` has, so that the engine's sessions do not wait for each other.
    UV_THREADPOOL_SIZE: '16',
    ...{ POLL_INTERVAL_MS: '1000', IPFS_GATEWAY: DEAD_GATEWAY },
  };
  const system = spawn(process.execPath, [...names.flags, path.join(ROOT, 'start/main.ts'), ...FLAGS], {
    ...{ cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  const ended = once(system, 'exit');
  try {
    const { url, screen } = await serving(system);
    const mints = await mintsAt(url);
    const agentMint = /MINT=(\w+)/.exec(screen)?.[1] as string;
    const agent = { mint: agentMint, keyFile: path.join(directory, 'devnet/agent.json') };
    const honest = { url, mints: mints.slice(0, 8), agent, patient: options.share < 1 };
    const alone = await honestClients({ ...honest, seconds: options.aloneSeconds });
    const base = Number(readFileSync(path.join(directory, 'devnet-port'), 'utf8'));
    const otherPorts = [base + 1, base + 2];
    const target = { url, mints, honest: agentMint, otherPorts, seed: options.seed, share: options.share };
    const attacks = spawn(
      process.execPath,
      [path.join(import.meta.dirname, 'attacks.ts'), JSON.stringify(target)],
      // A pipe to standard input: the attacks end when it closes, so with this process, however that ends.
      { stdio: ['pipe', 'ignore', 'ignore'] },
    );
    const gone = once(attacks, 'exit');
    const beside = await honestClients({ ...honest, seconds: options.seconds });
    attacks.kill('SIGKILL');
    await gone;
    await awaited(() => {
      if (names.asked() === 0) throw new Error('no name was asked for');
    });
    const alive = system.exitCode === null && (await fetch(`${url}/health`)).ok;
    return { alone, beside, alive, namesAsked: names.asked() };
  } finally {
    if (system.kill('SIGTERM')) await ended;
    names.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function serving(system: ReturnType<typeof spawn>): Promise<{ url: string; screen: string }> {
  let screen = '';
  return new Promise((resolve, reject) => {
    system.once('exit', (code) => reject(new Error(`it ended with ${code} before it served`)));
    system.stdout?.on('data', (chunk: Buffer) => {
      screen += chunk.toString();
      const found = /is serving (\S+)/.exec(screen)?.[1];
      if (found !== undefined && screen.includes('Ctrl-C')) resolve({ url: found, screen });
    });
  });
}

async function mintsAt(url: string): Promise<string[]> {
  for (;;) {
    const answer = (await (await fetch(`${url}/rankings?limit=200`)).json()) as {
      items?: { mint: string }[];
    };
    if (answer.items !== undefined && answer.items.length >= 8) return answer.items.map(({ mint }) => mint);
    await pause(200);
  }
}
