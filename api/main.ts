import '../runtime/node-version.ts';
import { openServer } from '../clickhouse/client.ts';
import { loadConfig, required } from '../runtime/config.ts';
import { messageOf } from '../runtime/errors.ts';
import { readFlags } from '../runtime/flags.ts';
import { aborted, runMain } from '../runtime/lifecycle.ts';
import { createLogger } from '../runtime/log.ts';
import { createRegistry, serveMetrics } from '../runtime/metrics.ts';
import { pollApplied } from './applied.ts';
import { serveApi } from './serve.ts';
import { serveFrom } from './serving-store.ts';

const APPLIED_POLL_MS = 50;

await runMain(async (signal) => {
  readFlags(
    {
      usage: 'npm run api',
      about:
        'Serves the HTTP API from ClickHouse (CLICKHOUSE_URL) on HOST and PORT. Several may run side by side.',
      flags: {},
    },
    process.argv.slice(2),
  );
  const config = loadConfig();
  const url = required(config.clickhouseUrl, 'CLICKHOUSE_URL', 'the API reads from a ClickHouse server');
  const programId = required(config.programId, 'PROGRAM_ID', 'the API serves the policies of one program');
  const logger = createLogger(config.logLevel, 'api');
  const registry = createRegistry('api');
  const serving = serveFrom(
    () => openServer(url, config.clickhouseCluster),
    signal,
    (error) => logger.warn({ reason: messageOf(error) }, 'ClickHouse is not reachable; trying again'),
  );
  const applied = pollApplied({
    currentStore: serving.currentStore,
    intervalMs: APPLIED_POLL_MS,
    signal,
    onError: (error) => logger.debug({ reason: messageOf(error) }, 'the applied marker was not read'),
  });
  const api = await serveApi({
    config,
    programId,
    currentStore: serving.currentStore,
    applied,
    agentRoutes: [],
    readPosts: null,
    logger,
    registry,
  });
  logger.info({ host: config.host, port: api.port }, 'serving');
  const missing = () => (serving.connected() ? [] : ['ClickHouse']);
  const metrics =
    config.metricsPort === null
      ? null
      : await serveMetrics(registry, missing, config.host, config.metricsPort);
  await aborted(signal);
  await api.close();
  await metrics?.close();
  await applied.done;
  await serving.close();
});
