import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { embeddedConnection } from './embedded/connection.ts';
import { opened, openSessions, type Sessions } from './embedded/sessions.ts';
import { onClusterClause } from './schema/cluster.ts';
import { CLUSTER_SETTINGS, ONE_ADDRESS_SETTINGS, SERVER_SETTINGS } from './server-settings.ts';
import {
  LINES_FORMAT,
  LINES_WITH_AN_END,
  mustBeOfClickHouse,
  wholeLines,
  wholeRows,
} from './whole-answers.ts';

export type Params = Record<
  string,
  string | number | bigint | boolean | null | readonly (string | number | bigint)[]
>;

/**
 * One database of one engine, embedded or a server: 64-bit integers come back as strings, 8 to 32 bits as numbers. Each
 * call throws a BrokenAnswerError for half an answer, and for one that is not ClickHouse's.
 */
export interface Store {
  /** Rows of a SELECT; parameters are bound as `{name:Type}`. @throws ClickHouseError */
  query<Row>(sql: string, params?: Params): Promise<Row[]>;
  /**
   * The same rows as text, for callers that keep them so: a line of column names, then one for each row, all of them
   * JSON arrays. @throws ClickHouseError, and Error for half an answer.
   */
  lines(sql: string, params?: Params): Promise<string>;
  /** Appends rows to a table, all or none of them. @throws ClickHouseError, also for a field the table does not have. */
  insert(table: string, rows: readonly object[]): Promise<void>;
  /** Runs a statement that answers nothing. @throws ClickHouseError */
  command(sql: string, params?: Params): Promise<void>;
  /** The name of the database that unqualified names mean. */
  readonly database: string;
  /** Set where one process owns the engine. */
  readonly exclusive?: true;
  /**
   * The same database over so many connections of its own: questions there do not wait for questions here.
   * Closed with this one.
   */
  aside?(connections: number): Store;
  /** The same database over a connection that waits for an answer as long as it takes. The caller closes it. */
  patient?(): Store;
  close(): Promise<void>;
}

/** The client prints nothing: the errors that it throws hold all it would print. */
const QUIET = { log: { level: ClickHouseLogLevel.OFF } };

const CONNECTIONS = 16;

const ANSWER_WITHIN_MS = 60_000;

/**
 * For statements that make rows out of all rows, of which a server says nothing before their end. Progress in headers
 * is not asked for: a statement that fails behind the first of them has the status of success. Whether the server is
 * there at all is checked by the operating system.
 */
const PATIENCE_MS = 7 * 86_400_000;

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** The engine on a directory of this machine; one process owns it. */
export async function openEmbedded(
  path: string,
  database = 'bankroll',
  answerWithinMs?: number,
): Promise<Store> {
  if (!NAME.test(database)) throw new TypeError(`no database name: ${database}`);
  const over = (sessions: Sessions): Store => {
    const client = createClient({ ...QUIET, connection: embeddedConnection(sessions) });
    return { ...storeOf(client, database), exclusive: true };
  };
  const sessions = (count: number, withinMs = answerWithinMs) =>
    openSessions(path, database, count, withinMs);
  const store: Store = {
    ...over(await sessions(4)),
    patient: () => over(opened(sessions(1, Number.POSITIVE_INFINITY))),
  };
  return withAsides(store, (connections) => over(opened(sessions(connections))));
}

/** The same database over connections that are kept for one `use`; the store itself where it has no `aside`. */
export function asideOf(store: Store, use: string, connections: number): Store {
  const known = asides.get(store) ?? new Map<string, Store>();
  asides.set(store, known);
  const one = known.get(use) ?? store.aside?.(connections) ?? store;
  known.set(use, one);
  return one;
}

const asides = new WeakMap<Store, Map<string, Store>>();

function withAsides(store: Store, open: (connections: number) => Store): Store {
  const opened: Store[] = [];
  return {
    ...store,
    aside: (connections) => {
      const aside = withAsides(open(connections), open);
      opened.push(aside);
      return aside;
    },
    close: async () => {
      await Promise.all([...opened, store].map((one) => one.close()));
    },
  };
}

/** With `read` nothing is created: an account that cannot write is enough. */
export type Rights = 'write' | 'read';

/** A server: http(s)://user:password@host:port/database. With `write` the database is created where it is missing. */
export async function openServer(
  url: string,
  cluster: string | null,
  rights: Rights = 'write',
  answerWithinMs = ANSWER_WITHIN_MS,
): Promise<Store> {
  const parsed = new URL(url);
  const database = decodeURIComponent(parsed.pathname.slice(1)) || 'bankroll';
  if (!NAME.test(database)) throw new TypeError(`CLICKHOUSE_URL names no database: ${database}`);
  const options = {
    ...QUIET,
    url: `${parsed.protocol}//${parsed.host}`,
    username: decodeURIComponent(parsed.username) || 'default',
    password: decodeURIComponent(parsed.password),
    request_timeout: answerWithinMs,
    max_open_connections: CONNECTIONS,
    clickhouse_settings: {
      ...SERVER_SETTINGS,
      ...(cluster === null ? ONE_ADDRESS_SETTINGS : CLUSTER_SETTINGS),
    },
  };
  if (rights === 'write') {
    const first = createClient(options);
    try {
      await makeDatabase(first, database, cluster);
    } finally {
      await first.close();
    }
  }
  const connected = (connections: number, withinMs: number) =>
    createClient({ ...options, max_open_connections: connections, request_timeout: withinMs, database });
  const over = (connections: number, withinMs = answerWithinMs) =>
    storeOf(connected(connections, withinMs), database, mustBeOfClickHouse);
  const store: Store = { ...over(CONNECTIONS), patient: () => over(1, PATIENCE_MS) };
  return withAsides(store, over);
}

/** No DDL where the database exists: a cluster would wait for a node that is away, longer than any caller waits. */
async function makeDatabase(client: ClickHouseClient, name: string, cluster: string | null): Promise<void> {
  const query = 'SELECT 1 FROM system.databases WHERE name = {name:String}';
  const server = storeOf(client, 'default', mustBeOfClickHouse);
  if ((await server.query(query, { name })).length > 0) return;
  await server.command(`CREATE DATABASE IF NOT EXISTS ${name} ${onClusterClause(cluster)} ENGINE = Atomic`);
}

/** @param check of the headers of an answer, which the embedded engine has none of */
function storeOf(
  client: ClickHouseClient,
  database: string,
  check: typeof mustBeOfClickHouse = () => {},
): Store {
  return {
    database,
    query: async <Row>(sql: string, params?: Params) => {
      const result = await client.query({ query: sql, format: 'JSONEachRow', query_params: params ?? {} });
      const answer = await result.text();
      check(result.response_headers);
      return wholeRows<Row>(answer);
    },
    lines: async (sql, params) => {
      const result = await client.exec({
        query: `${sql}\nFORMAT ${LINES_FORMAT}`,
        query_params: params ?? {},
        clickhouse_settings: LINES_WITH_AN_END,
      });
      const answer = await text(result.stream);
      check(result.response_headers);
      return wholeLines(answer);
    },
    insert: async (table, rows) => {
      if (rows.length === 0) return;
      // A replicated table drops a block that equals an earlier one. Ours must not be dropped: rows are told apart by
      // their keys, and how often some were written is counted. With a token of its own no block equals another.
      const clickhouse_settings = { insert_deduplication_token: randomUUID() };
      const done = await client.insert({ table, values: rows, format: 'JSONEachRow', clickhouse_settings });
      check(done.response_headers);
    },
    command: async (sql, params) => {
      const done = await client.command({ query: sql, query_params: params ?? {} });
      check(done.response_headers);
    },
    close: () => client.close(),
  };
}
