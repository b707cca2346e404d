import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Session } from 'chdb';
import { makeDirectory } from '../../runtime/process/directory.ts';
import { doneWithin } from '../../runtime/process/lifecycle.ts';
import { LINES_WITH_AN_END, WITH_AN_END } from '../whole-answers.ts';
import { abandonCall, noteOpened } from './abandoned-calls.ts';
import { createLanes } from './lanes.ts';
import { emptyStandardInput } from './standard-input.ts';

/**
 * Sessions run side by side: further threads of a single statement cost more than they give, and each is one more to
 * wait for.
 */
export const WITHOUT_THREADS = [
  'max_threads = 1',
  'input_format_parallel_parsing = 0',
  'output_format_parallel_formatting = 0',
  "local_filesystem_read_method = 'pread'",
];

/** Compiling an expression, as is done the third time it is met, costs more than it saves on one machine's data. */
export const UNCOMPILED = [
  'compile_expressions = 0',
  'compile_aggregate_expressions = 0',
  'compile_sort_description = 0',
  'compile_regular_expressions = 0',
];

/** Settings that every session runs with; the first are the same as the server's connection asks for. */
const SETTINGS = [
  'output_format_json_quote_64bit_integers = 1',
  'output_format_json_quote_decimals = 1',
  ...Object.entries({ ...WITH_AN_END, ...LINES_WITH_AN_END }).map(([name, value]) => `${name} = '${value}'`),
  'input_format_skip_unknown_fields = 0',
  "date_time_input_format = 'best_effort'",
  'max_execution_time = 60',
  "max_memory_usage = '1G'",
  // Here the parameters, all of them together, are part of the statement.
  'max_query_size = 16000000',
  ...UNCOMPILED,
  ...WITHOUT_THREADS,
];

/** The engine reads the file with the first session on a directory; every other session must name the same file. */
const CONFIGURED = { connectionArgs: [`--config-file=${path.join(import.meta.dirname, 'engine.xml')}`] };

/** Above max_execution_time: a statement that has not answered by then is stuck, and nothing in the engine ends it. */
const ANSWER_WITHIN_MS = 75_000;

/**
 * All sessions share one engine. More statements at a time than there are cores are done no sooner, and keep the thread
 * that answers requests from its core.
 */
const PLACES = createLanes(Math.max(3, availableParallelism() + 1), 1_000);

export interface Sessions {
  /**
   * Runs SQL on a session of its own until it has answered; waits where all are busy.
   * @throws Error once closed, and where the engine does not answer: the statement may still be carried out later.
   */
  run(sql: string, format: string): Promise<string>;
  close(): Promise<void>;
}

/** Holds one session; none where the last one was given up. */
interface Place {
  session: Session | null;
}

/**
 * Opens the engine on a directory with `count` sessions on one database.
 * @param answerWithinMs for a caller's statement; infinite where statements may take as long as they do
 * @throws Error with a sentence where the engine is not installed.
 */
export async function openSessions(
  directory: string,
  database: string,
  count: number,
  answerWithinMs = ANSWER_WITHIN_MS,
): Promise<Sessions> {
  const { Session: Engine } = await loadEngine();
  makeDirectory(directory);

  const ask = async (
    place: Place,
    sql: string,
    format?: string,
    withinMs = answerWithinMs,
  ): Promise<string> => {
    const session = place.session as Session;
    const answer = session.queryAsync(sql, format === undefined ? {} : { format });
    const isLimited = Number.isFinite(withinMs);
    if (!isLimited || (await doneWithin(withinMs, answer))) return (await answer).text();
    place.session = null;
    abandonCall(session, answer);
    const start = sql.slice(0, 200);
    throw new Error(`the embedded engine has not answered for ${withinMs / 1000} s: ${start}`);
  };
  /** For opening a session: a short limit for callers' statements must not end that. */
  const openingMs = Math.max(answerWithinMs, ANSWER_WITHIN_MS);
  const open = async (place: Place) => {
    const session = new Engine(directory, CONFIGURED);
    place.session = session;
    try {
      for (const sql of [
        `CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`,
        `USE ${database}`,
        `SET ${SETTINGS.join(', ')}`,
      ])
        await ask(place, sql, undefined, openingMs);
    } catch (error) {
      if (place.session === session) session.close();
      place.session = null;
      throw error;
    }
  };

  /**
   * The engine keeps what a statement had answered before it failed, and puts it in front of the session's next answer:
   * the rows of one question would be among those of another.
   */
  const renew = async (place: Place) => {
    const { session } = place;
    if (session === null) return;
    place.session = null;
    // First, for the engine runs only while a session is open. Where it fails, whoever takes the place tries again.
    await open(place).catch(() => undefined);
    session.close();
  };

  const noteClosed = noteOpened();
  const all: Place[] = Array.from({ length: count }, () => ({ session: null }));
  try {
    for (const place of all) await open(place);
  } catch (error) {
    for (const { session } of all) session?.close();
    noteClosed();
    throw error;
  }
  const lane = PLACES.lane();
  const idle = [...all];
  const waiting: ((place: Place) => void)[] = [];
  let closed = false;
  const take = () => {
    const place = idle.pop();
    return place === undefined ? new Promise<Place>((resolve) => waiting.push(resolve)) : place;
  };
  const give = (place: Place) => {
    const next = waiting.shift();
    if (next === undefined) idle.push(place);
    else next(place);
  };
  return {
    run: async (sql, format) => {
      if (closed) throw new Error('the database was closed');
      const place = await take();
      try {
        if (place.session === null) await open(place);
        return await lane(() => ask(place, sql, format));
      } catch (error) {
        await renew(place);
        throw error;
      } finally {
        give(place);
      }
    },
    close: async () => {
      if (closed) return;
      closed = true;
      // Statements that were asked before are answered first.
      const mine = await Promise.all(all.map(async () => take()));
      for (const { session } of mine) session?.close();
      noteClosed();
    },
  };
}

/** Sessions that are still being opened: calls wait for them, and fail as the opening does. */
export function opened(opening: Promise<Sessions>): Sessions {
  opening.catch(() => undefined);
  return {
    run: async (sql, format) => (await opening).run(sql, format),
    close: () =>
      opening.then(
        (sessions) => sessions.close(),
        () => undefined,
      ),
  };
}

async function loadEngine(): Promise<typeof import('chdb')> {
  emptyStandardInput();
  try {
    return await import('chdb');
  } catch (error) {
    throw new Error(
      'the embedded ClickHouse engine is not installed: run npm ci without --omit=optional, or set CLICKHOUSE_URL to a server',
      { cause: error },
    );
  }
}
