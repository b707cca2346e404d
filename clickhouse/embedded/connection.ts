import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type ClickHouseClientConfigOptions, ClickHouseError } from '@clickhouse/client';
import { parameterText } from './parameters.ts';
import type { Sessions } from './sessions.ts';

type Connection = NonNullable<ClickHouseClientConfigOptions['connection']>;

const ANSWER = { response_headers: {}, http_status_code: 200 };
const SUMMARY = {
  read_rows: '0',
  read_bytes: '0',
  written_rows: '0',
  written_bytes: '0',
  total_rows_to_read: '0',
  result_rows: '0',
  result_bytes: '0',
  elapsed_ns: '0',
};

/** The connection of @clickhouse/client over the embedded engine: all code above sees one client. */
export function embeddedConnection(sessions: Sessions): Connection {
  /** `data` is put behind the statement and is not searched for parameters. */
  const run = async (sql: string, params?: Record<string, unknown>, data = ''): Promise<string> => {
    const bound = withParams(sql, params);
    try {
      return await sessions.run(data === '' ? bound : `${bound}\n${data}`, 'JSONEachRow');
    } catch (error) {
      throw engineError(error);
    }
  };
  return {
    ping: async () => {
      try {
        await run('SELECT 1');
        return { success: true };
      } catch (error) {
        return { success: false, error: error as Error };
      }
    },
    query: async ({ query, query_params }) => ({
      stream: Readable.from([Buffer.from(await run(query, query_params))]),
      query_id: randomUUID(),
      ...ANSWER,
    }),
    exec: async ({ query, query_params, values }) => {
      const answer = await run(query, query_params, values === undefined ? '' : await text(values));
      return {
        stream: Readable.from([Buffer.from(answer)]),
        query_id: randomUUID(),
        summary: SUMMARY,
        ...ANSWER,
      };
    },
    command: async ({ query, query_params }) => {
      await run(query, query_params);
      return { query_id: randomUUID(), summary: SUMMARY, ...ANSWER };
    },
    insert: async ({ query, values, query_params }) => {
      await run(query, query_params, typeof values === 'string' ? values : await text(values));
      return { query_id: randomUUID(), summary: SUMMARY, ...ANSWER };
    },
    close: () => sessions.close(),
  };
}

const PLACEHOLDER = /\{([A-Za-z_]\w*):/g;

/**
 * Puts a SET of all parameters in front of the statement, in the same call: the engine binds them. A session keeps
 * those of earlier calls, so a question that lacks one is refused here, as by a server: it would get an earlier call's
 * value.
 * @throws ClickHouseError
 */
function withParams(sql: string, params: Record<string, unknown> = {}): string {
  for (const [, name = ''] of sql.matchAll(PLACEHOLDER)) {
    if (Object.hasOwn(params, name)) continue;
    const message = `Substitution \`${name}\` is not set`;
    throw new ClickHouseError({ message, code: '456', type: 'UNKNOWN_QUERY_PARAMETER' });
  }
  const sets = Object.entries(params).map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new TypeError(`no parameter name: ${name}`);
    return `param_${name} = ${literal(parameterText(value))}`;
  });
  return sets.length === 0 ? sql : `SET ${sets.join(', ')}; ${sql}`;
}

function literal(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** The engine's text carries the code and the type, as a server's does. */
function engineError(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  const match = /Code: (\d+)\. (?:DB::Exception: )?([\s\S]*?)(?:\(([A-Z_]+)\))?\s*$/.exec(message);
  if (match === null) return error instanceof Error ? error : new Error(message);
  return new ClickHouseError({ message: match[2] ?? message, code: match[1] ?? '0', type: match[3] ?? '' });
}
