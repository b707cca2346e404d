import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface Cast {
  /** Starts the local chain; resolves once it serves. */
  devnet(flags: readonly string[]): Promise<{ geyser: string; rpc: string; programId: string }>;
  /** Runs a process to its end. @throws Error where it fails; its standard error is in the directory */
  once(file: string, env: Record<string, string>): Promise<void>;
  start(file: string, env: Record<string, string>): void;
  stop(): Promise<void>;
}

/** Runs the product's processes; their standard error goes to files in `directory`. */
export function createCast(directory: string): Cast {
  const children: ChildProcess[] = [];
  const launch = (file: string, args: readonly string[], env: Record<string, string>) => {
    const log = openSync(path.join(directory, `${file.replaceAll('/', '-')}.log`), 'a');
    const child = spawn(process.execPath, [path.join(ROOT, file), ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', log],
    });
    children.push(child);
    return child;
  };
  return {
    devnet: async (flags) => {
      const child = launch('devnet/main.ts', ['--port-base', '0', ...flags], {});
      const ended = once(child, 'exit').then(() => {
        throw new Error('devnet ended before it served');
      });
      const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
      const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
      return (JSON.parse(line) as { devnet: { geyser: string; rpc: string; programId: string } }).devnet;
    },
    once: async (file, env) => {
      const [code] = await once(launch(file, [], env), 'exit');
      if (code !== 0) throw new Error(`${file} ended with ${code}; see ${directory}`);
    },
    start: (file, env) => void launch(file, [], env).stdout?.resume(),
    stop: async () => {
      for (const child of children.reverse()) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
    },
  };
}
