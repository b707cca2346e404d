import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { honestClients, type Met } from './honest.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const FLAGS = ['--policies', '16', '--history', '120'];

export interface Outcome {
  alone: Met;
  beside: Met;
  /** Whether the product still ran at the end. */
  alive: boolean;
}

/** Honest clients alone, then the same beside hostile ones of every kind at once, on the whole product. */
export async function runHostile(options: {
  seed: string;
  aloneSeconds: number;
  share: number;
  seconds: number;
}): Promise<Outcome> {
  const directory = mkdtempSync(path.join(tmpdir(), 'hostile-'));
  const gateway = await silentGateway();
  const env = {
    ...{ ...process.env, DATA_DIR: directory, PORT: '0', TRUST_PROXY: '1', LOG_LEVEL: 'error' },
    ...{ POLL_INTERVAL_MS: '1000', IPFS_GATEWAY: gateway.url },
  };
  const system = spawn(process.execPath, [path.join(ROOT, 'start/main.ts'), ...FLAGS], {
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
      {
        stdio: 'ignore',
      },
    );
    const gone = once(attacks, 'exit');
    const beside = await honestClients({ ...honest, seconds: options.seconds });
    attacks.kill('SIGKILL');
    await gone;
    return { alone, beside, alive: system.exitCode === null && (await fetch(`${url}/health`)).ok };
  } finally {
    if (system.kill('SIGTERM')) await ended;
    gateway.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Takes every connection and says nothing: documents of tokens stand behind it. */
async function silentGateway(): Promise<{ url: string; close(): void }> {
  const held = new Set<Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    held.add(socket);
    socket.on('close', () => held.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of held) socket.destroy();
      server.close();
    },
  };
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
