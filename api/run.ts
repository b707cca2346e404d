import { openServer } from '../clickhouse/client.ts';
import { isOfProgram } from '../clickhouse/queries/progress/indexed-program.ts';
import { openDatabase } from '../clickhouse/serving/serving.ts';
import { publicUrlOf, required } from '../runtime/config/config.ts';
import { messageOf } from '../runtime/errors.ts';
import { aborted, doneWithin } from '../runtime/process/lifecycle.ts';
import { runService } from '../runtime/process/service.ts';
import { openAgentSide } from './agent/side.ts';
import { bind } from './http/listen.ts';
import { createLatest } from './latest/latest.ts';
import { serveFrom } from './latest/serving-store.ts';
import { serveApi } from './serve.ts';

const COMMAND = {
  usage: 'npm run api',
  about:
    'Serves the HTTP API on HOST and PORT: reads from ClickHouse (CLICKHOUSE_URL), the agents’ routes over Postgres\n(POSTGRES_URL) and the chain (SOLANA_RPC_URL). Several may run side by side.',
  flags: {},
};

/** How long the start waits for the store: one that hangs holds up the routes that need none no longer than this. */
const FIRST_LOOK_MS = 2_000;

/** The process of the API. @param postsWaitMs see AppOptions */
export const runApi = ({ postsWaitMs }: { postsWaitMs?: number } = {}): Promise<void> =>
  runService('api', COMMAND, async ({ config, logger, registry, signal, needs }) => {
    const { clickhouseUrl: url, solanaRpcUrl: rpcUrls } = required(config, {
      clickhouseUrl: 'the API reads from a ClickHouse server',
      postgresUrl: 'posts and exposures are kept on a Postgres server',
      solanaRpcUrl: 'who may post is read from the chain',
    });
    const api = await bind(config.host, config.port, { trustProxy: config.trustProxy });
    const serving = serveFrom({
      openHome: () => openServer(url, config.clickhouseCluster, 'read'),
      openDatabase: (name) => openDatabase(url, name, config.clickhouseCluster, 'read'),
      isOfProgram: (store) => isOfProgram(store, config.programId),
      signal,
      onError: (error) =>
        logger.warn({ reason: messageOf(error) }, 'ClickHouse does not serve us; trying again'),
      onSwitched: (database) => logger.info({ database }, 'serving this database'),
    });
    needs('ClickHouse', serving.probe);
    const { currentStore } = serving;
    const latest = createLatest({
      currentStore,
      clock: Date.now,
      signal,
      onError: (error) => logger.debug({ reason: messageOf(error) }, 'what changed was not read'),
    });
    const publicUrl = publicUrlOf(config, api.port);
    const agents = await openAgentSide({ config, publicUrl, rpcUrls, currentStore, logger });
    needs('Postgres', agents.probe);
    const refused = Promise.race([serving.refused, agents.refused]);
    // Requests that come before that wait, rather than be refused for want of a store.
    await doneWithin(FIRST_LOOK_MS, Promise.race([refused, serving.firstAttempt, aborted(signal)]));
    serveApi({ config, latest, agents, logger, registry, bound: api, postsWaitMs, signal });
    logger.info({ host: config.host, port: api.port }, 'serving');
    await Promise.race([aborted(signal), refused]);
    await api.close();
    await agents.close();
    await serving.close();
  });
