import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { type Agent, createAgent } from '../../../api/client/entry.ts';
import type { StatusResponse } from '../../../schemas/responses/status.ts';
import { awaited } from '../../support/awaited.ts';
import { placeEmbedded } from '../../support/pglite.ts';

/** `npm start` on a small local chain, once the past of that chain has been made. */
export interface Running {
  url: string;
  /** The policy whose agent's key is in the data directory. */
  mint: string;
  /** The one that the screen shows first, whose agent posts by itself. */
  speaker: string;
  agent: Agent;
  stop(): Promise<void>;
}

const MAIN = path.resolve(import.meta.dirname, '../../../start/main.ts');
const FLAGS = ['--policies', '4', '--history', '200', '--rate', '1'];

/** The past of two days has been made once the newest slot is no older than this. */
const OF_NOW_MS = 60_000;

async function pastLived(url: string): Promise<void> {
  const { indexer } = (await (await fetch(`${url}/status`)).json()) as StatusResponse;
  expect(Date.now() - Date.parse(indexer.lastProcessedBlockTime ?? '')).toBeLessThan(OF_NOW_MS);
}

export async function startRunning(): Promise<Running> {
  const directory = mkdtempSync(path.join(tmpdir(), 'explorer-'));
  const data = path.join(directory, 'data');
  await placeEmbedded(path.join(data, 'postgres'));
  const env = { ...process.env, DATA_DIR: data, PORT: '0' };
  const quiet = ['--disable-warning=TimeoutNegativeWarning', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...quiet, MAIN, ...FLAGS], {
    ...{ cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] },
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
  let said = '';
  const screen = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.once('exit', (code) => reject(new Error(`it ended with ${code} before it served: ${said}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('Ctrl-C')) resolve(text);
    });
  });
  const url = /is serving (\S+)/.exec(screen)?.[1] as string;
  await awaited(() => pastLived(url), 200);
  const mint = /MINT=(\w+)/.exec(screen)?.[1] as string;
  const speaker = /coins\/(\w+)/.exec(screen)?.[1] as string;
  const key = Uint8Array.from(
    JSON.parse(readFileSync(path.join(data, 'devnet/agent.json'), 'utf8')) as number[],
  );
  return { url, mint, speaker, agent: createAgent({ url, mint, key }), stop };
}
