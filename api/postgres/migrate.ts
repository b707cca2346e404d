import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError, messageOf, RetryableError } from '../../runtime/errors.ts';
import type { Db, Queries } from './port.ts';

const DIRECTORY = path.resolve(import.meta.dirname, '../agent/migrations');
/** Any number, as long as nothing else in the database uses it. */
const LOCK = 7_221_035_001;
const LOOK_EVERY_MS = 50;
/** SQLSTATEs of a login without the right: insufficient privilege, and no schema in sight to make a table in. */
const NOT_ALLOWED: ReadonlySet<unknown> = new Set(['42501', '3F000']);

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** The numbered files, in order. */
async function migrations(): Promise<Migration[]> {
  const names = (await readdir(DIRECTORY)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(path.join(DIRECTORY, name), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** What is still to be applied, in order. @throws ConfigError where an applied migration is not one of this version. */
async function pending(db: Queries): Promise<Migration[]> {
  const rows = await db.query<Omit<Migration, 'sql'>>('SELECT name, checksum FROM agent_migrations');
  const known = await migrations();
  for (const { name, checksum } of rows) {
    const file = known.find((migration) => migration.name === name);
    if (file === undefined)
      throw new ConfigError(
        `the Postgres database has migration ${name}, which this version does not know: start the version that made it`,
      );
    if (file.checksum !== checksum)
      throw new ConfigError(`the Postgres migration ${name} was edited after it was applied`);
  }
  const done = new Set(rows.map(({ name }) => name));
  return known.filter(({ name }) => !done.has(name));
}

/** @throws RetryableError where the database is older than this version: `migrate` has not run on it yet. */
export async function mustBeCurrent(db: Queries): Promise<void> {
  const missing = await ((await hasLedger(db)) ? pending(db) : migrations());
  const names = missing.map(({ name }) => name).join(', ');
  if (missing.length > 0) throw new RetryableError(`the database lacks ${names}: run npm run migrate`);
}

async function hasLedger(db: Queries): Promise<boolean> {
  const [ledger] = await db.query<{ isThere: boolean }>(
    `SELECT to_regclass('agent_migrations') IS NOT NULL AS "isThere"`,
  );
  return ledger?.isThere === true;
}

/**
 * Brings the agents' tables to the current schema and makes the key that challenges are signed under, once. Safe to
 * repeat and to run twice at once: the second waits. Where nothing is left to do, a login that may only read is enough.
 * @returns the names of the migrations that were applied.
 * @throws ConfigError where the database is not UTF-8 or newer than this version, an applied migration was edited, or
 * the login lacks the rights to migrate.
 */
export async function migratePostgres(db: Db): Promise<string[]> {
  const bring = db.transaction(async (tx) => {
    // Polled, since a wait inside the server would be ended by the statement timeout.
    while (!(await tryLock(tx))) await pause(LOOK_EVERY_MS);
    const [encoding] = await tx.query<{ name: string }>(`SELECT current_setting('server_encoding') AS name`);
    if (encoding?.name !== 'UTF8')
      throw new ConfigError(`POSTGRES_URL names a database in ${encoding?.name}: it must be in UTF8`);
    // Not `IF NOT EXISTS`: Postgres checks the right to make a table before it looks whether the table is there.
    if (!(await hasLedger(tx)))
      await tx.run(
        `CREATE TABLE agent_migrations (
           name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
      );
    const applied: string[] = [];
    for (const { name, sql, checksum } of await pending(tx)) {
      await tx.run(sql);
      await tx.query('INSERT INTO agent_migrations (name, checksum) VALUES ($1, $2)', [name, checksum]);
      applied.push(name);
    }
    const [key] = await tx.query(`SELECT 1 FROM agent_keys WHERE name = 'nonce'`);
    if (key === undefined)
      await tx.query(`INSERT INTO agent_keys (name, secret) VALUES ('nonce', $1)`, [
        randomBytes(32).toString('hex'),
      ]);
    return applied;
  });
  return bring.catch((error: unknown) => {
    if (!NOT_ALLOWED.has((error as { code?: unknown } | null)?.code)) throw error;
    throw new ConfigError(
      `the login of POSTGRES_URL may not bring the agents' tables to the current schema (${messageOf(error)}): let one that may do it once`,
      { cause: error },
    );
  });
}

async function tryLock(tx: Queries): Promise<boolean> {
  const [row] = await tx.query<{ mine: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1::text::bigint) AS mine',
    [String(LOCK)],
  );
  return row?.mine === true;
}
