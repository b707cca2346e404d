import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Store } from './client.ts';
import { forCluster } from './cluster.ts';
import { statementsOf } from './statements.ts';

export interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

const DIRECTORY = path.join(import.meta.dirname, 'migrations');

/** The numbered files, in order. */
export function migrations(): Migration[] {
  return readdirSync(DIRECTORY)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const sql = readFileSync(path.join(DIRECTORY, name), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

/**
 * Brings the database to the current schema. Forward only and safe to repeat: every statement creates what is not
 * there, so two processes that migrate at once both arrive at the same schema.
 * @returns the names that were applied now.
 * @throws Error where an applied file has changed since, or the database is newer than this version.
 */
export async function migrate(store: Store, cluster: string | null = null): Promise<string[]> {
  const ledger = `CREATE TABLE IF NOT EXISTS migrations (name String, checksum String, applied_at DateTime64(3) DEFAULT now64(3))
    ENGINE = ReplacingMergeTree(applied_at) ORDER BY name`;
  for (const statement of cluster === null ? [ledger] : forCluster(ledger, cluster))
    await store.command(statement);
  const applied = await store.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM migrations FINAL',
  );
  const known = migrations();
  for (const { name, checksum } of applied) {
    const file = known.find((migration) => migration.name === name);
    if (file === undefined)
      throw new Error(`the database has migration ${name}, which this version does not know`);
    if (file.checksum !== checksum) throw new Error(`migration ${name} was changed after it was applied`);
  }
  const done = new Set(applied.map(({ name }) => name));
  const now: string[] = [];
  for (const migration of known.filter(({ name }) => !done.has(name))) {
    for (const statement of statementsOf(migration.sql)) {
      const variants = cluster === null ? [statement] : forCluster(statement, cluster);
      for (const variant of variants) await store.command(variant);
    }
    await store.insert('migrations', [{ name: migration.name, checksum: migration.checksum }]);
    now.push(migration.name);
  }
  return now;
}
