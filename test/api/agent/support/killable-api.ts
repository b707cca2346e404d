import { type ChildProcess, fork } from 'node:child_process';
import path from 'node:path';

export interface ApiChildSettings {
  postgresUrl: string | null;
  dataDir: string;
  rpcUrl: string;
  venueUrl: string;
}

/** The agents' API as a process that a test kills and starts again. */
export interface KillableApi {
  /** Its base URL once it serves; a new one after every start. */
  start(): Promise<string>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export function killableApi(settings: ApiChildSettings): KillableApi {
  let child: ChildProcess | null = null;
  return {
    start: () => {
      const started = fork(path.join(import.meta.dirname, 'api-child.ts'), [JSON.stringify(settings)]);
      child = started;
      return new Promise((resolve, reject) => {
        started.once('message', (message) => resolve((message as { url: string }).url));
        started.once('exit', (code) => reject(new Error(`the API ended with ${code} before it served`)));
      });
    },
    kill: async () => {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child?.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    },
  };
}
