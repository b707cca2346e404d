import pg from 'pg';
import { BusyError } from '../../runtime/errors.ts';
import type { Db, SqlValue } from './port.ts';

export interface PoolLimits {
  /** Without those for readers. */
  connections: number;
  /** The longest wait for a connection to be free, or made. */
  connectMs: number;
  statementMs: number;
}

const LIMITS: PoolLimits = { connections: 12, connectMs: 5_000, statementMs: 10_000 };

/** Connections for readers, who may be many and ask for much: writes use the others and wait behind no reader. */
const READERS = 4;

/** SQLSTATE of a statement that the server cancelled, as it or its wait for a lock took too long. */
const ENDED_BY_SERVER = '57014';
const NONE_IS_FREE = 'timeout exceeded when trying to connect';
const NONE_IS_MADE = 'Connection terminated due to connection timeout';

/**
 * A server, connected to at the first query. A query that gets no connection in time, or that the server cancels for
 * taking too long, fails with BusyError, and nothing of it is stored.
 * @param url postgres://user:password@host:port/database
 */
export function openPool(url: string, limits: PoolLimits = LIMITS): Db {
  const usual = { isolation: READ_COMMITTED };
  const pool = connections(url, limits.connections, limits, (isolation) => {
    usual.isolation = isolation;
  });
  const readers = connections(url, READERS, limits);
  // A pooler in between may run a transaction on another connection than the one whose settings were made.
  const own = [...TIMES, ...limitsOf(limits)].map((one) => `SET LOCAL ${one}`);
  const begin = ['BEGIN ISOLATION LEVEL READ COMMITTED', ...own, flushed('transaction')].join('; ');
  const transaction: Db['transaction'] = async (work) => {
    const client = await pool.connect().catch(throwBusy);
    // Without a listener, a connection that dies between two statements would end the process.
    const ignore = () => undefined;
    client.on('error', ignore);
    let broken: Error | undefined;
    try {
      await client.query(begin);
      const result = await work({
        query: async <Row>(sql: string, params: readonly SqlValue[] = []) =>
          (await client.query(sql, [...params])).rows as Row[],
        run: async (sql) => void (await client.query(sql)),
      });
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch((failure: Error) => {
        broken = failure;
      });
      throw busyOr(error);
    } finally {
      client.off('error', ignore);
      client.release(broken);
    }
  };
  const alone = asking(pool);
  return {
    // A pooler that pools transactions runs a query on a connection that may not have our isolation level.
    query: (sql, params) =>
      usual.isolation === READ_COMMITTED ? alone(sql, params) : transaction((tx) => tx.query(sql, params)),
    readers: { query: asking(readers) },
    transaction,
    close: async () => void (await Promise.all([pool.end(), readers.end()])),
  };
}

/** Times are read as text and sent back: in the form of another DateStyle they may come back as other times. */
const TIMES = ["DateStyle = 'ISO'", "TimeZone = 'UTC'"];

/** Settings of how long the server lets a statement run, and a transaction stand idle between two statements. */
const limitsOf = ({ statementMs }: PoolLimits): string[] =>
  ['statement_timeout', 'idle_in_transaction_session_timeout'].map((name) => `${name} = ${statementMs}`);

/**
 * Has a commit wait until the disk has it, where a role or server has switched that off: what was answered as stored
 * must outlast a crash. Any other choice, how long standbys are waited for, is the operator's.
 */
const flushed = (scope: 'session' | 'transaction') =>
  `SELECT set_config('synchronous_commit', 'local', ${scope === 'transaction'}) WHERE current_setting('synchronous_commit') = 'off'`;

const READ_COMMITTED = 'read committed';
/** The isolation level of the role, server or database, whatever this connection was set to. */
const USUAL_ISOLATION = `SELECT reset_val AS isolation FROM pg_settings WHERE name = 'default_transaction_isolation'`;

/** @param onIsolation is told the usual isolation level, at each new connection */
function connections(
  url: string,
  most: number,
  limits: PoolLimits,
  onIsolation: (usual: string) => void = () => undefined,
): pg.Pool {
  const { connectMs, statementMs } = limits;
  const said = [`default_transaction_isolation = '${READ_COMMITTED}'`, ...TIMES, ...limitsOf(limits)];
  const pool = new pg.Pool({
    connectionString: url,
    max: most,
    connectionTimeoutMillis: connectMs,
    // A server that hangs answers nothing at all, not even its own timeout.
    query_timeout: statementMs + 2_000,
    application_name: 'bankroll-indexer',
    // Read committed whatever the server's default, so that a transaction that waited for its turn sees what was
    // written before. Set once the connection stands: a pooler in between takes no startup options.
    onConnect: async (client) => {
      const all = [...said.map((one) => `SET ${one}`), flushed('session'), USUAL_ISOLATION].join('; ');
      // Of several statements it answers with the results of each.
      const results: unknown = await client.query(all);
      const [row] = (results as pg.QueryResult<{ isolation: string }>[]).at(-1)?.rows ?? [];
      onIsolation(row?.isolation ?? READ_COMMITTED);
    },
  });
  // A connection that dies while idle is replaced at the next query; without a listener it would end the process.
  pool.on('error', () => undefined);
  return pool;
}

const asking =
  (pool: pg.Pool) =>
  async <Row>(sql: string, params: readonly SqlValue[] = []): Promise<Row[]> =>
    (await pool.query(sql, [...params]).catch(throwBusy)).rows as Row[];

function throwBusy(error: unknown): never {
  throw busyOr(error);
}

function busyOr(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (sqlState(error) === ENDED_BY_SERVER || error.message === NONE_IS_FREE)
    return new BusyError('no Postgres connection became free in time, or the query took too long', {
      cause: error,
    });
  return error.message === NONE_IS_MADE
    ? new BusyError('Postgres took no connection in time', { cause: error })
    : error;
}

const sqlState = (error: Error & { code?: unknown }): unknown => error.code;
