import pg from 'pg';
import { BusyError } from '../../runtime/errors.ts';
import type { Db, SqlValue } from './port.ts';

export interface PoolLimits {
  connections: number;
  /** For one of them to be free, or made. */
  connectMs: number;
  statementMs: number;
}

const LIMITS: PoolLimits = { connections: 12, connectMs: 5_000, statementMs: 10_000 };

/** A statement that the server ended, since it took too long or waited too long for a lock: with all that it wrote. */
const ENDED_BY_SERVER = '57014';
const NONE_IS_FREE = 'timeout exceeded when trying to connect';

/**
 * A server, connected to when it is first asked. Its questions fail with BusyError where they were waited for in vain,
 * and nothing of them is stored.
 * @param url postgres://user:password@host:port/database
 */
export function openPool(url: string, limits: PoolLimits = LIMITS): Db {
  const pool = new pg.Pool({
    connectionString: url,
    max: limits.connections,
    connectionTimeoutMillis: limits.connectMs,
    statement_timeout: limits.statementMs,
    // A server that hangs answers nothing at all, not even its own timeout.
    query_timeout: limits.statementMs + 2_000,
    idle_in_transaction_session_timeout: limits.statementMs,
    application_name: 'bankroll-indexer',
  });
  // A connection that dies while idle is replaced by the next question; without a listener it would end the process.
  pool.on('error', () => undefined);
  return {
    query: async <Row>(sql: string, params: readonly SqlValue[] = []) =>
      (await pool.query(sql, [...params]).catch(throwBusy)).rows as Row[],
    transaction: async (work) => {
      const client = await pool.connect().catch(throwBusy);
      // Without a listener, a connection that dies between two statements would end the process.
      const ignore = () => undefined;
      client.on('error', ignore);
      let broken: Error | undefined;
      try {
        await client.query('BEGIN');
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
    },
    close: () => pool.end(),
  };
}

function throwBusy(error: unknown): never {
  throw busyOr(error);
}

function busyOr(error: unknown): unknown {
  const inVain =
    error instanceof Error && (sqlState(error) === ENDED_BY_SERVER || error.message === NONE_IS_FREE);
  return inVain ? new BusyError('too many wait for Postgres', { cause: error }) : error;
}

const sqlState = (error: Error & { code?: unknown }): unknown => error.code;
