import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PATIENCE_MS } from '../../support/awaited.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const PRELOAD = path.join(import.meta.dirname, 'preload.ts');
const TAIL_LINES = 15;
/** What the product's processes inherit of this process's environment. */
export const KEPT = Object.fromEntries(
  ['PATH', 'HOME', 'NODE_COMPILE_CACHE'].map((name) => [name, process.env[name] ?? '']),
);

export interface ActorOptions {
  name: string;
  /** The file to run, relative to the project's root. */
  file: string;
  env: Record<string, string>;
  /** Where its log goes, and its working directory. */
  directory: string;
}

/** A process of the product, which may be killed and started again. */
export interface Actor {
  readonly name: string;
  readonly env: Record<string, string>;
  start(): void;
  running(): boolean;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
  /** Asks it to end. @throws Error where it does not end with 0, or not at all */
  stop(): Promise<void>;
  /** Has `Date.now` stand still in it; resolves once it does. */
  stopClock(atMillis: number): Promise<void>;
  /** Resolves with the next message of this name that it sends. */
  message(name: string): Promise<void>;
  send(message: object): void;
  /** Exits that were not asked for through this actor, each with the last lines of its log. */
  crashes: string[];
  /** The most memory it held when it was looked at, in bytes. */
  mostBytes(): number;
  look(): void;
}

export function createActor({ name, file, env, directory }: ActorOptions): Actor {
  const log = path.join(directory, `${name}.log`);
  const crashes: string[] = [];
  let child: ChildProcess | null = null;
  let expected = false;
  let most = 0;

  const end = async (signal: NodeJS.Signals): Promise<[number | null, NodeJS.Signals | null]> => {
    const ended = child;
    if (ended === null) return [0, null];
    expected = true;
    const exit = once(ended, 'exit');
    // A process under SIGSTOP takes no signal but SIGKILL before SIGCONT.
    ended.kill(signal);
    const [code, by] = await exit;
    return [code, by];
  };

  return {
    name,
    env,
    crashes,
    start: () => {
      const out = openSync(log, 'a');
      const fresh = spawn(process.execPath, ['--import', PRELOAD, path.join(ROOT, file)], {
        cwd: directory,
        env: { ...KEPT, ...env },
        stdio: ['ignore', out, out, 'ipc'],
      });
      child = fresh;
      expected = false;
      fresh.once('exit', (code, signal) => {
        child = null;
        if (!expected) crashes.push(`${name} ended with ${signal ?? code}:\n${tailOf(log)}`);
      });
    },
    running: () => child !== null,
    signal: (signal) => void child?.kill(signal),
    kill: async () => void (await end('SIGKILL')),
    stop: async () => {
      const stuck = child;
      const late = setTimeout(() => stuck?.kill('SIGKILL'), PATIENCE_MS);
      const [code, signal] = await end('SIGTERM');
      clearTimeout(late);
      if (code !== 0)
        throw new Error(`${name} was stopped and ended with ${signal ?? code}:\n${tailOf(log)}`);
    },
    stopClock: async (atMillis) => {
      const running = child;
      if (running === null) throw new Error(`${name} does not run`);
      const answered = once(running, 'message');
      running.send({ stopClockAt: atMillis });
      await answered;
    },
    message: (wanted) =>
      new Promise((resolve) => {
        const running = child;
        const heard = (message: unknown) => {
          if ((message as Record<string, unknown>)[wanted] === undefined) return;
          running?.off('message', heard);
          resolve();
        };
        running?.on('message', heard);
      }),
    send: (message) => void child?.send(message),
    look: () => {
      if (child?.pid === undefined) return;
      most = Math.max(most, residentBytes(child.pid));
    },
    mostBytes: () => most,
  };
}

function tailOf(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}

function residentBytes(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
