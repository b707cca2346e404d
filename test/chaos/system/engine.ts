import { once } from 'node:events';
import path from 'node:path';
import { type ClickHouseProcess, startClickHouse } from '../../support/clickhouse-process.ts';

/** Small parts and few background threads: four fifths of what the engine costs without it. */
const CONFIG = path.resolve('clickhouse/embedded/engine.xml');

/** The ClickHouse front as a server that is killed and comes back on its data. */
export interface Engine {
  port: number;
  kill(): Promise<void>;
  /** Has it answer nothing more, its connections open. */
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
