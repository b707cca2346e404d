import { type Config, required } from '../../runtime/config/config.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { retryUntilDone } from '../../runtime/retry.ts';
import type { Store } from '../client.ts';
import { declareProgram } from '../queries/progress/indexed-program.ts';
import { schemaMustBeCurrent } from '../schema/migrate.ts';
import { openServing } from './serving.ts';

/**
 * The serving database on the server of CLICKHOUSE_URL, waited for until it answers and has the current schema.
 * @returns null where the signal is aborted first.
 * @throws ConfigError where the variable is not set, or the database is of another program.
 */
export function openStore(
  config: Config,
  options: { logger: Logger; signal: AbortSignal },
): Promise<Store | null> {
  const { clickhouseUrl: url } = required(config, {
    clickhouseUrl: 'the index is kept on a ClickHouse server',
  });
  return retryUntilDone(
    'opening ClickHouse',
    async () => {
      const store = await openServing(url, config.clickhouseCluster);
      try {
        await schemaMustBeCurrent(store);
        await declareProgram(store, config.programId, config.clickhouseCluster);
      } catch (error) {
        await store.close();
        throw error;
      }
      return store;
    },
    options,
  );
}
