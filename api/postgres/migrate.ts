import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ConfigError } from '../../runtime/errors.ts';
import type { Db, Queries } from './port.ts';

const DIRECTORY = path.resolve(import.meta.dirname, '../agent/migrations');
/** Any number, as long as nothing else in the database uses it. */
const LOCK = 7_221_035_001;
const LOOK_EVERY_MS = 50;

/**
 * Brings the agents' tables to the current schema and makes the key that challenges are signed under, once. Safe to
 * repeat and to run twice at once: the second waits.
 * @returns the names of the migrations that were applied.
 * @throws ConfigError where the database is not UTF-8, or an applied migration was edited.
 */
export async function migratePostgres(db: Db): Promise<string[]> {
  const names = (await readdir(DIRECTORY)).filter((name) => name.endsWith('.sql')).sort();
  const files = await Promise.all(
    names.map(async (name) => ({ name, sql: await readFile(path.join(DIRECTORY, name), 'utf8') })),
  );
  return db.transaction(async (tx) => {
    // A wait inside the server would end with the time that a statement has.
    while (!(await tryLock(tx))) await pause(LOOK_EVERY_MS);
    const [encoding] = await tx.query<{ name: string }>(`SELECT current_setting('server_encoding') AS name`);
    if (encoding?.name !== 'UTF8')
      throw new ConfigError(`POSTGRES_URL names a database in ${encoding?.name}: it must be in UTF8`);
    await tx.run(
      `CREATE TABLE IF NOT EXISTS agent_migrations (
         name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
    const rows = await tx.query<{ name: string; checksum: string }>(
      'SELECT name, checksum FROM agent_migrations',
    );
    const known = new Map(rows.map((row) => [row.name, row.checksum]));
    const applied: string[] = [];
    for (const { name, sql } of files) {
      const checksum = createHash('sha256').update(sql).digest('hex');
      const before = known.get(name);
      if (before === checksum) continue;
      if (before !== undefined)
        throw new ConfigError(`the Postgres migration ${name} was edited after it was applied`);
      await tx.run(sql);
      await tx.query('INSERT INTO agent_migrations (name, checksum) VALUES ($1, $2)', [name, checksum]);
      applied.push(name);
    }
    await tx.query(
      `INSERT INTO agent_keys (name, secret) VALUES ('nonce', $1) ON CONFLICT (name) DO NOTHING`,
      [randomBytes(32).toString('hex')],
    );
    return applied;
  });
}

async function tryLock(tx: Queries): Promise<boolean> {
  const [row] = await tx.query<{ mine: boolean }>(
    'SELECT pg_try_advisory_xact_lock($1::text::bigint) AS mine',
    [String(LOCK)],
  );
  return row?.mine === true;
}
