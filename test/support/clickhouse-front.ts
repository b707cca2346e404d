import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Session } from 'chdb';
import { UNCOMPILED, WITHOUT_THREADS } from '../../clickhouse/embedded/sessions.ts';
import { emptyStandardInput } from '../../clickhouse/embedded/standard-input.ts';
import { type KeptSessions, keepSessions } from './clickhouse-sessions.ts';

/** Parameters of the URL that are not settings of the query. */
const RESERVED = new Set(['query', 'database', 'query_id', 'session_id', 'session_timeout', 'role']);
/** A server's http_max_field_name_size and http_max_field_value_size: bytes of a URL parameter as it is encoded. */
const MOST_NAME = 4_096;
const MOST_VALUE = 131_072;
/** A setting that differs in each insert: it is set for each request, like query parameters. */
const TOKEN = 'insert_deduplication_token';

export interface ClickHouseFront {
  /** http://127.0.0.1:port, without a database. */
  url: string;
  close(): Promise<void>;
}

/**
 * ClickHouse's HTTP interface over the embedded engine, as far as @clickhouse/client's own transport uses it, so that
 * tests run the production path and several processes share one engine. No setting or parameter outlives its request:
 * a session is used again only by a request that sets the same ones.
 * @param config path of a configuration file of the engine
 */
export async function serveClickHouse(path: string, port = 0, config?: string): Promise<ClickHouseFront> {
  emptyStandardInput();
  const open = () =>
    new Session(path, config === undefined ? {} : { connectionArgs: [`--config-file=${config}`] });
  // The engine runs for as long as any session is open.
  const keeper = open();
  const sessions = keepSessions(open);
  // A server's http_max_uri_size: parameters are sent in the URL.
  const server = createServer({ maxHeaderSize: 1_048_576 }, (request, response) => {
    answer(sessions, request, response).catch((error: unknown) => refuse(response, error));
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      sessions.close();
      keeper.close();
    },
  };
}

async function answer(
  sessions: KeptSessions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://front');
  checkFields(url.search.slice(1));
  if (url.pathname === '/ping') {
    response.end('Ok.\n');
    return;
  }
  const body = (await buffer(request)).toString('utf8');
  const query = url.searchParams.get('query');
  const sql = query === null ? body : body === '' ? query : `${query}\n${body}`;
  const asked = [...url.searchParams].filter(([name]) => !RESERVED.has(name));
  const isOwn = ([name]: [string, string]) => name.startsWith('param_') || name === TOKEN;
  const parameters = asked.filter(isOwn);
  const settings = asked.filter((one) => !isOwn(one));
  const set = settings.map(assignment);
  // The deployment's account of that name has this setting.
  if (loginOf(request) === 'reader') set.push('readonly = 2');
  const use = `USE ${identifier(url.searchParams.get('database') || 'default')};`;
  // One SET for all settings: each statement costs as much as a small query.
  const opening = `${use} SET ${[...WITHOUT_THREADS, ...UNCOMPILED, ...set].join(', ')};`;
  const own = parameters.length === 0 ? '' : `SET ${parameters.map(assignment).join(', ')};`;
  const kind = [opening, ...parameters.map(([name]) => name)].join(' ');
  const bytes = await sessions.run(kind, opening, `${own} ${sql}`);
  response.setHeader('X-ClickHouse-Query-Id', url.searchParams.get('query_id') ?? randomUUID());
  response.setHeader('X-ClickHouse-Summary', JSON.stringify({ read_rows: '0', written_rows: '0' }));
  response.end(bytes);
}

/** Refuses long parameters as a server does, which counts bytes before it decodes them. */
function checkFields(search: string): void {
  for (const field of search.split('&')) {
    const [name = '', ...value] = field.split('=');
    const long = name.length > MOST_NAME ? 'name' : value.join('=').length > MOST_VALUE ? 'value' : null;
    if (long !== null)
      throw new Error(
        `Poco::Exception. Code: 1000, e.code() = 0, HTML Form Exception: Field ${long} too long`,
      );
  }
}

const assignment = ([name, value]: [string, string]): string => `${identifier(name)} = ${literal(value)}`;

function loginOf({ headers }: IncomingMessage): string {
  const [, basic = ''] = /^Basic (.*)$/.exec(headers.authorization ?? '') ?? [];
  return Buffer.from(basic, 'base64').toString().split(':')[0] as string;
}

function refuse(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = /Code: (\d+)/.exec(message)?.[1] ?? '1001';
  response.writeHead(500, {
    'X-ClickHouse-Exception-Code': code,
    'Content-Type': 'text/plain; charset=UTF-8',
  });
  response.end(`${message}\n`);
}

function identifier(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Error(`Code: 36. no name: ${name} (BAD_ARGUMENTS)`);
  return name;
}

function literal(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
