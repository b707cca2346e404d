import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface Child {
  pid: number;
  /** Sends a message and waits for the answer. */
  ask<Answer>(message: object): Promise<Answer>;
  /** The next message from the process. */
  heard<Answer>(): Promise<Answer>;
  rssMb(): number;
  stop(): Promise<void>;
}

/** Starts a process of the bench, which sends and receives messages over its IPC channel. */
export function startChild(file: string, args: readonly string[] = [], flags: readonly string[] = []): Child {
  const child: ChildProcess = fork(path.join(ROOT, file), args, {
    execArgv: ['--disable-warning=ExperimentalWarning', ...flags],
    env: { ...process.env, UV_THREADPOOL_SIZE: '16' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const heard = <Answer>() =>
    new Promise<Answer>((resolve, reject) => {
      const ended = (code: number | null) => reject(new Error(`${file} ended with ${code}`));
      child.once('exit', ended);
      child.once('message', (message) => {
        child.off('exit', ended);
        resolve(message as Answer);
      });
    });
  return {
    pid: child.pid as number,
    heard,
    ask: (message) => {
      const answer = heard<never>();
      child.send(message);
      return answer;
    },
    rssMb: () => {
      const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      return Number(kilobytes) / 1024;
    },
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners('exit');
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}
