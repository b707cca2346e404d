import { once } from 'node:events';
import path from 'node:path';
import { type ClickHouseProcess, startClickHouse } from '../../support/clickhouse-process.ts';

/** Small parts and few background threads: with it the engine costs four fifths of what it does without. */
const CONFIG = path.resolve('clickhouse/embedded/engine.xml');

/** The ClickHouse front as a server that can be killed and started again on its data. */
export interface Engine {
  port: number;
  kill(): Promise<void>;
  /** Stops it from answering, with its connections left open. */
  freeze(): void;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startEngine(directory: string): Promise<Engine> {
  let running: ClickHouseProcess | null = await startClickHouse(directory, 0, CONFIG);
  const port = Number(new URL(running.url).port);
  const killed = async () => {
    const ended = running;
    if (ended === null) return;
    running = null;
    const gone = once(ended.child, 'exit');
    ended.child.kill('SIGKILL');
    await gone;
  };
  return {
    port,
    kill: killed,
    freeze: () => void running?.child.kill('SIGSTOP'),
    restart: async () => {
      running ??= await startClickHouse(directory, port, CONFIG);
    },
    stop: killed,
  };
}
