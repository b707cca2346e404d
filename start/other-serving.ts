import { openServer, type Store } from '../clickhouse/client.ts';
import { untilSwitched } from '../clickhouse/serving/follow-serving.ts';
import type { Config } from '../runtime/config/config.ts';
import { RetryableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/process/log.ts';

/**
 * Ends where one process owns the engine, and with the signal. Every stage holds the database that it began with: whoever
 * starts this process anew has it go over, and until then nobody is told what a replay has mended.
 * @throws RetryableError once another database of the server serves.
 */
export async function untilAnotherServes(
  { clickhouseUrl, clickhouseCluster }: Config,
  { database }: Pick<Store, 'database'>,
  options: { logger: Logger; signal: AbortSignal },
): Promise<void> {
  if (clickhouseUrl === null) return;
  const home = await openServer(clickhouseUrl, clickhouseCluster, 'read');
  try {
    await untilSwitched({ home, ...options }, database);
  } finally {
    await home.close();
  }
  if (options.signal.aborted) return;
  throw new RetryableError(
    'a replay has another database of CLICKHOUSE_URL serve: this npm start ends, and goes on with that one when it is started again',
  );
}
