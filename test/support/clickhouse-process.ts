import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface ClickHouseProcess {
  url: string;
  pid: number;
  /** Stops the engine and removes its directory. */
  stop(): Promise<void>;
}

/** Starts the front over the embedded engine as a child. @param directory kept by the caller, else a new one. */
export async function startClickHouse(directory?: string, port = 0): Promise<ClickHouseProcess> {
  const home = directory ?? mkdtempSync(path.join(tmpdir(), 'clickhouse-'));
  const child = fork(path.join(import.meta.dirname, 'clickhouse-child.ts'), [home, String(port)], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '16' },
    execArgv: [],
  });
  const ended = once(child, 'exit');
  const ready = await Promise.race([once(child, 'message'), ended]);
  const url = (ready[0] as { url?: string } | null)?.url;
  if (url === undefined) throw new Error(`the engine ended before it served (${ready.join(' ')})`);
  return {
    url,
    pid: child.pid as number,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      if (directory === undefined) rmSync(home, { recursive: true, force: true });
    },
  };
}
