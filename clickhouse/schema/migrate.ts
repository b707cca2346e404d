import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError, RetryableError } from '../../runtime/errors.ts';
import type { Store } from '../client.ts';
import { forCluster, isCopy, onClusterClause } from './cluster.ts';
import { LEASE } from './log-lease.ts';
import { LOCK, underMigrationLock } from './migration-lock.ts';
import { statementsOf } from './statements.ts';

export interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

const DIRECTORY = path.join(import.meta.dirname, '../migrations');

/**
 * As they are when the process starts: a newer version's files may replace them while it runs, but not its code.
 */
const FILES = readFiles();

/** The numbered files, in order. */
export const migrations = (): Migration[] => [...FILES];

function readFiles(): Migration[] {
  return readdirSync(DIRECTORY)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => {
      const sql = readFileSync(path.join(DIRECTORY, name), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

const LEDGER = `CREATE TABLE IF NOT EXISTS migrations (
  name String, checksum String, applied_at DateTime64(3) DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(applied_at) ORDER BY name`;

/**
 * Brings the database to the current schema: forward only, one process after the other, and safe to repeat, also
 * after a run that was killed half way.
 * @param cluster name of the cluster, or null for a single server.
 * @returns the names that were applied now.
 * @throws Error where an applied file has changed since, or the database is newer than this version.
 */
export async function migrate(store: Store, cluster: string | null): Promise<string[]> {
  return store.exclusive
    ? apply(store, cluster)
    : underMigrationLock(store, onClusterClause(cluster), () => apply(store, cluster));
}

async function apply(store: Store, cluster: string | null): Promise<string[]> {
  const run = async (statement: string) => {
    const ask = isCopy(statement) ? (form: string) => askPatiently(store, form) : store.command;
    for (const form of cluster === null ? [statement] : forCluster(statement, cluster)) await ask(form);
  };
  const isNew = cluster === null && (await hasNoTables(store));
  await run(LEDGER);
  const now = await pending(store);
  const rowOf = ({ name, checksum }: Migration) => ({ name, checksum });
  for (const migration of now) {
    const statements = statementsOf(migration.sql);
    // A new database has no rows to make others from: that saves a third of what a first start costs.
    for (const statement of isNew ? statements.filter((one) => !isCopy(one)) : statements)
      await run(statement);
    if (!isNew) await store.insert('migrations', [rowOf(migration)]);
  }
  if (isNew) await store.insert('migrations', now.map(rowOf));
  return now.map(({ name }) => name);
}

/** An INSERT … SELECT over all rows takes as long as it does: to give up on it is to begin it again, for ever. */
async function askPatiently(store: Store, statement: string): Promise<void> {
  const patient = store.patient?.();
  try {
    await (patient ?? store).command(statement);
  } finally {
    await patient?.close();
  }
}

/** Whether this is the first run on a database; a run that was killed has left a table. */
async function hasNoTables(store: Store): Promise<boolean> {
  const [found] = await store.query(
    'SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name NOT IN {locks:Array(String)} LIMIT 1',
    { locks: [LOCK, LEASE] },
  );
  return found === undefined;
}

/** @throws RetryableError where the database is older than this version: `migrate` is still to come. */
export async function schemaMustBeCurrent(store: Store): Promise<void> {
  const [ledger] = await store.query(
    `SELECT 1 FROM system.tables WHERE database = {database:String} AND name = 'migrations'`,
    {
      database: store.database,
    },
  );
  const missing = ledger === undefined ? migrations() : await pending(store);
  const names = missing.map(({ name }) => name).join(', ');
  if (missing.length > 0)
    throw new RetryableError(`ClickHouse database ${store.database} lacks ${names}: run npm run migrate`);
}

/**
 * Checks a database that was current once.
 * @throws ConfigError where it was migrated since, to a schema that this version does not know.
 */
export async function schemaMustBeKnown(store: Store): Promise<void> {
  await pending(store);
}

const ANOTHER =
  'take another CLICKHOUSE_URL, or move DATA_DIR/clickhouse away, and it is filled anew from the log or the chain';

/** The migrations to be applied, in order. @throws ConfigError where an applied one is not as this version has it. */
async function pending(store: Store): Promise<Migration[]> {
  const applied = await store.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM migrations FINAL',
  );
  const known = migrations();
  for (const { name, checksum } of applied) {
    const file = known.find((migration) => migration.name === name);
    if (file === undefined)
      throw new ConfigError(
        `the database has migration ${name}, which this version does not know: start the version that made it, or ${ANOTHER}`,
      );
    if (file.checksum !== checksum)
      throw new ConfigError(`migration ${name} was changed after it was applied: ${ANOTHER}`);
  }
  const done = new Set(applied.map(({ name }) => name));
  return known.filter(({ name }) => !done.has(name));
}
