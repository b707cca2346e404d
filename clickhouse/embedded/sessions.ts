import { mkdirSync } from 'node:fs';
import type { Session } from 'chdb';

/** Settings that every session of the embedded engine runs with; the same as the server's connection asks for. */
const SETTINGS = [
  'output_format_json_quote_64bit_integers = 1',
  'output_format_json_quote_decimals = 1',
  'input_format_skip_unknown_fields = 0',
  "date_time_input_format = 'best_effort'",
  'max_execution_time = 60',
  'max_threads = 2',
  "max_memory_usage = '1G'",
];

export interface Sessions {
  /** Runs SQL on a session of its own until it has answered; waits where all are busy. @throws Error once closed. */
  run(sql: string, format: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * Opens the engine on a directory with `count` sessions on one database.
 * @throws Error with a sentence where the engine is not installed.
 */
export async function openSessions(path: string, database: string, count: number): Promise<Sessions> {
  const { Session: Engine } = await loadEngine();
  mkdirSync(path, { recursive: true });
  const all: Session[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      const session = new Engine(path);
      all.push(session);
      if (index === 0) await session.queryAsync(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`);
      await session.queryAsync(`USE ${database}`);
      await session.queryAsync(`SET ${SETTINGS.join(', ')}`);
    }
  } catch (error) {
    for (const session of all) session.close();
    throw error;
  }
  const idle = [...all];
  const waiting: ((session: Session) => void)[] = [];
  let closed = false;
  const take = () => {
    const session = idle.pop();
    return session === undefined ? new Promise<Session>((resolve) => waiting.push(resolve)) : session;
  };
  const give = (session: Session) => {
    const next = waiting.shift();
    if (next === undefined) idle.push(session);
    else next(session);
  };
  return {
    run: async (sql, format) => {
      if (closed) throw new Error('the database was closed');
      const session = await take();
      try {
        const result = await session.queryAsync(sql, { format });
        return result.text();
      } finally {
        give(session);
      }
    },
    close: async () => {
      if (closed) return;
      closed = true;
      // What was asked before is answered before.
      const mine = await Promise.all(all.map(async () => take()));
      for (const session of mine) session.close();
    },
  };
}

async function loadEngine(): Promise<typeof import('chdb')> {
  try {
    return await import('chdb');
  } catch (error) {
    throw new Error(
      'the embedded ClickHouse engine is not installed: run npm ci without --omit=optional, or set CLICKHOUSE_URL to a server',
      { cause: error },
    );
  }
}
