import { openServer, type Store } from '../clickhouse/client.ts';
import { schemaMustBeKnown } from '../clickhouse/schema/migrate.ts';
import { whileSchemaIsKnown } from '../clickhouse/schema/while-schema-is-known.ts';
import { untilServing } from '../clickhouse/serving/follow-serving.ts';
import type { Serving } from '../clickhouse/serving/serving.ts';
import type { Config } from '../runtime/config/config.ts';
import { RetryableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/process/log.ts';

/**
 * Resolves at once with an embedded engine, else when the signal is aborted. Every stage keeps the database that it
 * began with: only a restart of this process moves it to another, and until then readers do not see what a replay has
 * mended.
 * @param begun the database that this process works on, and the row that names it as the serving one
 * @throws RetryableError once another database of the server serves, by a later switch or because ours is gone;
 * ConfigError once ours was migrated to a schema that this version does not know.
 */
export async function untilAnotherServes(
  { clickhouseUrl, clickhouseCluster }: Config,
  begun: { store: Store; serving: Serving },
  options: { logger: Logger; signal: AbortSignal },
): Promise<void> {
  if (clickhouseUrl === null) return;
  const home = await openServer(clickhouseUrl, clickhouseCluster, 'read');
  try {
    // A replica that lags names the database that served before: that is no switch. Where a server was set up anew, or
    // restored from a backup older than the last switch, the database that we began with does not exist any more.
    const { store, serving } = begun;
    const isSwitched = async ({ database, version }: Serving) =>
      database !== serving.database &&
      (version > serving.version || !(await hasDatabase(home, serving.database)));
    await whileSchemaIsKnown(
      () => schemaMustBeKnown(store),
      options,
      (signal) => untilServing({ home, ...options, signal }, isSwitched),
    );
  } finally {
    await home.close();
  }
  if (options.signal.aborted) return;
  throw new RetryableError(
    'another database of CLICKHOUSE_URL serves by now, as after a replay: this npm start ends, and goes on with that one when it is started again',
  );
}

async function hasDatabase(home: Store, name: string): Promise<boolean> {
  const rows = await home.query('SELECT 1 FROM system.databases WHERE name = {name:String}', { name });
  return rows.length > 0;
}
