import pg from 'pg';
import { adviceOn, ENGINES } from '../../../clickhouse/schema/replicas.ts';
import { mustBeOfClickHouse } from '../../../clickhouse/whole-answers.ts';
import { fetchBounded } from '../../../runtime/outside/fetch.ts';
import { type Finding, note } from './finding.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;

/** Asks a ClickHouse server for its version, and where no cluster is named for its engines; changes nothing there. */
export async function checkClickHouse(
  configured: string,
  cluster: string | null,
  signal: AbortSignal,
): Promise<Finding[]> {
  const url = new URL(configured);
  const { status, text, headers } = await ask(url, 'SELECT version()', signal);
  if (status !== 200 || !/^[\d.]{3,40}/.test(text)) throw new Error(`HTTP ${status}: ${text.slice(0, 200)}`);
  mustBeOfClickHouse(Object.fromEntries(headers));
  const found: Finding[] = [{ mark: 'ok', text: `ClickHouse ${text.slice(0, 40)}` }];
  const advice = cluster === null ? adviceOn(await enginesOf(url, signal)) : null;
  return advice === null ? found : [...found, note(advice)];
}

/** Empty where the server does not tell them: they are for advice alone. */
async function enginesOf(url: URL, signal: AbortSignal): Promise<string[]> {
  const told = await ask(url, `${ENGINES} FORMAT TabSeparated`, signal).catch(() => null);
  return told?.status === 200 ? told.text.split('\n') : [];
}

interface Answer {
  status: number;
  text: string;
  headers: Headers;
}

async function ask(url: URL, sql: string, signal: AbortSignal): Promise<Answer> {
  const database = decodeURIComponent(url.pathname.slice(1)) || 'bankroll';
  const asked = new URLSearchParams({ query: sql, param_database: database });
  const { status, bytes, headers } = await fetchBounded(`${url.origin}/?${asked}`, {
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    signal,
    headers: {
      'X-ClickHouse-User': decodeURIComponent(url.username) || 'default',
      'X-ClickHouse-Key': decodeURIComponent(url.password),
    },
  });
  return { status, headers, text: Buffer.from(bytes).toString('utf8').trim() };
}

/** Logs in to a Postgres server and asks for its version. */
export async function checkPostgres(connectionString: string): Promise<string> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // A connection that breaks between queries is reported here; without a listener it would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return `Postgres ${String(rows[0]?.server_version).slice(0, 40)}`;
  } finally {
    await client.end().catch(() => {});
  }
}
