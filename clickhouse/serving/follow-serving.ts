import { type Config, required } from '../../runtime/config/config.ts';
import { messageOf, RetryableError } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { retryUntilDone } from '../../runtime/retry.ts';
import { openServer, type Store } from '../client.ts';
import { declareProgram } from '../queries/progress/indexed-program.ts';
import { schemaMustBeCurrent } from '../schema/migrate.ts';
import { openDatabase, readServing, type Serving } from './serving.ts';

/** How often each process asks which database serves, though that changes only with a replay. */
const LOOK_EVERY_MS = 1_000;

export interface FollowOptions {
  /** The database that CLICKHOUSE_URL names. */
  home: Store;
  /** Opens another database on the same server. */
  openDatabase(name: string): Promise<Store>;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Does `work` over the serving database: after each switch it is stopped and begun again over the new one.
 * @param work goes on until its signal is aborted.
 * @throws what `work` throws.
 */
export async function followServing(
  options: FollowOptions,
  work: (store: Store, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { home, logger, signal } = options;
  while (!signal.aborted) {
    const store = await retryUntilDone('opening the serving database', () => openCurrent(options), options);
    if (store === null) return;
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const isOther = ({ database }: Serving) => database !== store.database;
    const switched = untilServing({ ...options, signal: either }, isOther).then(() => stop.abort());
    try {
      await work(store, either);
    } finally {
      stop.abort();
      await switched;
      if (store !== home) await store.close();
    }
    if (!signal.aborted) logger.info({ from: store.database }, 'another database serves by now');
  }
}

async function openCurrent({ home, openDatabase: open }: FollowOptions): Promise<Store> {
  const { database } = await readServing(home);
  const store = database === home.database ? home : await open(database);
  try {
    await schemaMustBeCurrent(store);
    return store;
  } catch (error) {
    if (store !== home) await store.close();
    throw error;
  }
}

/** Resolves once `isMeant` holds for what serves, or the signal is aborted. */
export async function untilServing(
  { home, logger, signal }: Pick<FollowOptions, 'home' | 'logger' | 'signal'>,
  isMeant: (serving: Serving) => boolean | Promise<boolean>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await isMeant(await readServing(home))) return;
    } catch (error) {
      logger.debug({ reason: messageOf(error) }, 'the serving database was not read');
    }
    await pause(LOOK_EVERY_MS, signal);
  }
}

/**
 * Opens the home database of CLICKHOUSE_URL, once it answers, and follows the serving one.
 * @throws ConfigError where the serving database is of another program.
 */
export async function followConfigured(
  config: Config,
  options: { logger: Logger; signal: AbortSignal },
  work: (store: Store, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { clickhouseUrl: url } = required(config, {
    clickhouseUrl: 'the index is kept on a ClickHouse server',
  });
  const { clickhouseCluster: cluster, programId } = config;
  const home = await retryUntilDone('opening ClickHouse', () => openServer(url, cluster), options);
  if (home === null) return;
  const workOfProgram: typeof work = async (store, signal) => {
    const declare = () => declareProgram(store, programId, cluster);
    await retryUntilDone('saying of which program the database is', declare, { ...options, signal });
    await work(store, signal);
  };
  const openNamed = (name: string) => openDatabase(url, name, cluster);
  try {
    await followServing({ home, openDatabase: openNamed, ...options }, workOfProgram);
  } finally {
    await home.close();
  }
}

/** What `/ready` asks before there is a database to ask. */
export async function notOpenedYet(): Promise<never> {
  throw new RetryableError('ClickHouse is not opened yet');
}
