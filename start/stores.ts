import path from 'node:path';
import { openEmbedded, type Store } from '../clickhouse/client.ts';
import { withLowPriorityThreads } from '../clickhouse/embedded/thread-priority.ts';
import { declareProgram } from '../clickhouse/queries/progress/indexed-program.ts';
import { migrate } from '../clickhouse/schema/migrate.ts';
import { openServing } from '../clickhouse/serving/serving.ts';
import type { Config } from '../runtime/config/config.ts';
import { notReached } from '../runtime/process/not-reached.ts';

export interface Stores {
  /** Of ingestion; closes both. */
  store: Store;
  /** The same over connections of their own: what readers ask is answered beside ingestion, not before it. */
  reads: Store;
}

const READ_CONNECTIONS = 4;

/** The server of CLICKHOUSE_URL, or the engine in DATA_DIR. */
export async function openStores(config: Config): Promise<Stores> {
  const store =
    config.clickhouseUrl === null
      ? await withLowPriorityThreads(() => openEmbedded(path.resolve(config.dataDir, 'clickhouse')))
      : await openServing(config.clickhouseUrl, config.clickhouseCluster).catch(
          notReached('CLICKHOUSE_URL', ', or unset CLICKHOUSE_URL for the embedded one'),
        );
  return { store, reads: store.aside?.(READ_CONNECTIONS) ?? store };
}

/**
 * Brings a store to the current schema, and says of which program it is.
 * @throws ConfigError, with the store closed, where it cannot be, or is of another.
 */
export async function prepareStore(store: Store, config: Config): Promise<void> {
  const { clickhouseCluster: cluster, programId } = config;
  try {
    await migrate(store, cluster);
    await declareProgram(store, programId, cluster);
  } catch (error) {
    // An engine that is left open ends its process by a signal.
    await store.close();
    throw error;
  }
}
