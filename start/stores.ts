import path from 'node:path';
import { openEmbedded, type Store } from '../clickhouse/client.ts';
import { brokenParts } from '../clickhouse/embedded/broken-parts.ts';
import { withLowPriorityThreads } from '../clickhouse/embedded/thread-priority.ts';
import { declareProgram, isOfProgram } from '../clickhouse/queries/progress/indexed-program.ts';
import type { LeaseTimes, LogLease } from '../clickhouse/schema/log-lease.ts';
import { migrate } from '../clickhouse/schema/migrate.ts';
import { openServed, type Serving } from '../clickhouse/serving/serving.ts';
import type { Config } from '../runtime/config/config.ts';
import { RetryableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/process/log.ts';
import { notReached } from '../runtime/process/not-reached.ts';
import { leaseOf } from './log.ts';

export interface Stores {
  /** For ingestion. Closing it closes `reads` too. */
  store: Store;
  /** The same database over connections of its own: readers' queries and ingestion do not wait for each other. */
  reads: Store;
  /** The row that names this database as the serving one. */
  serving: Serving;
}

const READ_CONNECTIONS = 4;

/** The server of CLICKHOUSE_URL, or the engine in DATA_DIR. */
export async function openStores(config: Config, logger: Logger): Promise<Stores> {
  const { store, serving } = await (config.clickhouseUrl === null
    ? openOwn(config.dataDir, logger)
    : openServed(config.clickhouseUrl, config.clickhouseCluster).catch(
        notReached('CLICKHOUSE_URL', ', or unset CLICKHOUSE_URL for the embedded one'),
      ));
  return { store, reads: store.aside?.(READ_CONNECTIONS) ?? store, serving };
}

async function openOwn(dataDir: string, logger: Logger): Promise<Pick<Stores, 'store' | 'serving'>> {
  const directory = path.resolve(dataDir, 'clickhouse');
  const before = brokenParts(directory);
  const store = await withLowPriorityThreads(() => openEmbedded(directory));
  const parts = [...brokenParts(directory)].filter((part) => !before.has(part)).length;
  // Most of what they held is streamed again behind the last known position, or is in parts that are whole.
  if (parts > 0)
    logger.error(
      { parts, directory },
      'parts of the index were half written, as where the machine lost its power, and are left out: figures may lack what was in them. npm run audit, once this is stopped, tells of sums over events and of accounts as they are, not of hours that have passed. Without that directory the next start reads the chain anew, and passed hours, prices and readings are gone: keep a copy of it',
    );
  return { store, serving: { database: store.database, version: 0n } };
}

/**
 * Brings a store to the current schema, and declares which program it is of. A process that fills it from a log of its
 * own may run an older version, which writes nothing into tables that it does not know: nothing is changed before that
 * process has ended, and nothing at all in a database of another program.
 * @returns the lease under which the store is filled, where other processes can reach it too; else null.
 * @throws ConfigError, with the store closed, where another process fills it, it cannot be migrated, or it is of
 * another program; RetryableError where another process may have begun to fill it during the migration.
 */
export async function prepareStore(
  store: Store,
  config: Config,
  logger: Logger,
  leaseTimes?: LeaseTimes,
): Promise<LogLease | null> {
  const { clickhouseCluster: cluster, programId } = config;
  let lease: LogLease | null = null;
  try {
    await isOfProgram(store, programId);
    lease = await leaseOf(config, store, logger, leaseTimes);
    await migrate(store, cluster);
    // A migration takes as long as it takes; a holder that gave no sign of life during it counts as dead.
    if (lease?.isHeld() === false)
      throw new RetryableError(
        `the database ${store.database} was brought to the current schema, and another npm start may have taken it meanwhile: start again`,
      );
    await declareProgram(store, programId, cluster);
    return lease;
  } catch (error) {
    await lease?.release();
    // A process that leaves its embedded engine open is ended by a signal.
    await store.close();
    throw error;
  }
}
