import pg from 'pg';
import { fetchBounded } from '../../../runtime/outside/fetch.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;

/** Asks a ClickHouse server for its version; changes nothing there. */
export async function checkClickHouse(configured: string, signal: AbortSignal): Promise<string> {
  const url = new URL(configured);
  const { status, bytes } = await fetchBounded(`${url.origin}/?query=SELECT%20version()`, {
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    signal,
    headers: {
      'X-ClickHouse-User': decodeURIComponent(url.username) || 'default',
      'X-ClickHouse-Key': decodeURIComponent(url.password),
    },
  });
  const text = Buffer.from(bytes).toString('utf8').trim();
  if (status !== 200 || !/^[\d.]{3,40}/.test(text)) throw new Error(`HTTP ${status}: ${text.slice(0, 200)}`);
  return `ClickHouse ${text.slice(0, 40)}`;
}

/** Logs in to a Postgres server and asks for its version. */
export async function checkPostgres(connectionString: string): Promise<string> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // A connection that breaks between questions is reported here, and would end the process unheard.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return `Postgres ${String(rows[0]?.server_version).slice(0, 40)}`;
  } finally {
    await client.end().catch(() => {});
  }
}
