import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startClickHouse } from '../../test/support/clickhouse-process.ts';
import { freePort } from '../../test/support/free-port.ts';
import { startKafka } from '../../test/support/kafka.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { type Cast, createCast } from './cast.ts';

export interface Deployment {
  /** Base URL of the API. */
  url: string;
  /** Port of ingest's metrics. */
  metricsPort: number;
  geyser: string;
  programId: string;
  /** Environment of every process of it. */
  env: Record<string, string>;
  cast: Cast;
  stop(): Promise<void>;
}

const HISTORY_WITHIN_MS = 600_000;

/**
 * Starts one process of each kind over servers on this machine and the local chain; resolves once the API's history is
 * complete.
 * @param chain flags of `npm run devnet`
 */
export async function deploy(chain: Record<string, string>): Promise<Deployment> {
  const directory = mkdtempSync(path.join(tmpdir(), 'bench-'));
  const [cluster, clickhouse, postgres] = await Promise.all([
    startKafka(),
    startClickHouse(path.join(directory, 'clickhouse')),
    startPostgres(),
  ]);
  const cast = createCast(directory);
  const stop = async () => {
    await cast.stop();
    await Promise.all([postgres.stop(), clickhouse.stop(), cluster.stop()]);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const { geyser, rpc, programId } = await cast.devnet(
      Object.entries(chain).flatMap(([name, value]) => [`--${name}`, value]),
    );
    const [port, metricsPort] = [await freePort(), await freePort()];
    const env = {
      KAFKA_BROKERS: cluster.brokers.join(','),
      KAFKA_PARTITIONS: '4',
      CLICKHOUSE_URL: `${clickhouse.url}/bench`,
      POSTGRES_URL: await postgres.freshUrl(),
      YELLOWSTONE_ENDPOINT: geyser,
      SOLANA_RPC_URL: rpc,
      PROGRAM_ID: programId,
      PORT: String(port),
    };
    await cast.once('start/migrate.ts', env);
    cast.start('ingest/commands/ingest.ts', { ...env, METRICS_PORT: String(metricsPort) });
    cast.start('ingest/commands/materialise.ts', env);
    cast.start('api/main.ts', env);
    const url = `http://127.0.0.1:${port}`;
    await untilWhole(url);
    return { url, metricsPort, geyser, programId, env, cast, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilWhole(url: string): Promise<void> {
  const deadline = performance.now() + HISTORY_WITHIN_MS;
  for (;;) {
    const answer = await fetch(`${url}/status`).catch(() => null);
    if (answer?.status === 200) {
      const { indexer } = (await answer.json()) as { indexer: { history: { complete: boolean } } };
      if (indexer.history.complete) return;
    }
    if (performance.now() > deadline) throw new Error('history was not read in time');
    await pause(500);
  }
}
