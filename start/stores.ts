import path from 'node:path';
import { openEmbedded, type Store } from '../clickhouse/client.ts';
import { withLowPriorityThreads } from '../clickhouse/embedded/thread-priority.ts';
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
