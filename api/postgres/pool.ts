import pg from 'pg';
import type { Db, SqlValue } from './port.ts';

const CONNECTIONS = 12;
const CONNECT_MS = 5_000;
const STATEMENT_MS = 10_000;

/** A server, connected to when it is first asked. @param url postgres://user:password@host:port/database */
export function openPool(url: string): Db {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    // A server that hangs answers nothing at all, not even its own timeout.
    query_timeout: STATEMENT_MS + 2_000,
    idle_in_transaction_session_timeout: STATEMENT_MS,
    application_name: 'bankroll-indexer',
  });
  // A connection that dies while idle is replaced by the next question; without a listener it would end the process.
  pool.on('error', () => undefined);
  return {
    query: async <Row>(sql: string, params: readonly SqlValue[] = []) =>
      (await pool.query(sql, [...params])).rows as Row[],
    transaction: async (work) => {
      const client = await pool.connect();
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
        throw error;
      } finally {
        client.off('error', ignore);
        client.release(broken);
      }
    },
    close: () => pool.end(),
  };
}
