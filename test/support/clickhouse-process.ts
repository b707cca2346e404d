import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { doneWithin } from '../../runtime/process/lifecycle.ts';
import { reportWait } from './awaited.ts';

const CHILD = path.join(import.meta.dirname, 'clickhouse-child.ts');
const STOP_LIMIT_MS = 30_000;

export interface ClickHouseProcess {
  url: string;
  child: ChildProcess;
  stop(): Promise<void>;
}

/**
 * Starts the front over the embedded engine as a child process.
 * @param directory kept afterwards; without it, a temporary one that is deleted at the end
 * @param config path of a configuration file of the engine
 */
export async function startClickHouse(
  directory?: string,
  port = 0,
  config?: string,
): Promise<ClickHouseProcess> {
  const child = fork(CHILD, [String(port), directory ?? '', config ?? ''], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '16' },
    execArgv: [],
  });
  const ended = once(child, 'exit');
  const serves = reportWait(() => 'the engine to serve');
  const ready = await Promise.race([once(child, 'message'), ended]).finally(serves);
  const url = (ready[0] as { url?: string } | null)?.url;
  if (url === undefined) throw new Error(`the engine ended before it served (${ready.join(' ')})`);
  return {
    url,
    child,
    stop: async () => {
      child.kill('SIGTERM');
      // A query that the engine never answers keeps the process from ending.
      if (!(await doneWithin(STOP_LIMIT_MS, ended))) child.kill('SIGKILL');
      await ended;
    },
  };
}
