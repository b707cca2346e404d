import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const { PATH, NODE_COMPILE_CACHE } = process.env;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

/** Starts the process of `npm run <command>`. `said` returns its standard error so far. */
export function startCommand(
  command: 'backfill' | 'ingest' | 'materialise' | 'poll' | 'replay',
  env: Record<string, string>,
  args: string[] = [],
): { child: ChildProcess; said: () => string; ended: Promise<Ended> } {
  const child = spawn(
    process.execPath,
    ['--disable-warning=TimeoutNegativeWarning', `ingest/commands/${command}.ts`, ...args],
    {
      cwd: ROOT,
      env: { PATH, NODE_COMPILE_CACHE, LOG_LEVEL: 'error', ...env },
    },
  );
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (err += text));
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, out, err })),
  );
  return { child, said: () => err, ended };
}

/** What a process answers at `/ready` on this METRICS_PORT, as far as tests look at it. */
export async function readyOf(port: number): Promise<{ ready: boolean; missing: string[] }> {
  const { ready, missing } = (await (await fetch(`http://127.0.0.1:${port}/ready`)).json()) as {
    ready: boolean;
    missing: string[];
  };
  return { ready, missing };
}
