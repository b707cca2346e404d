import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Cluster } from '../../support/kafka.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { ownBrokers } from '../../support/servers-of-run.ts';
import { type Engine, startEngine } from './engine.ts';
import { startProxy, type TcpProxy } from './proxy.ts';

/** The servers that the product's processes depend on; all but Postgres are behind a proxy. */
export interface Servers {
  kafka: Cluster;
  engine: Engine;
  postgres: PostgresServer;
  proxies: { brokers: TcpProxy[]; clickhouse: TcpProxy; geyser: TcpProxy };
  close(): Promise<void>;
}

export async function startServers(options: { brokers: number; geyserPort: number }): Promise<Servers> {
  const brokers: TcpProxy[] = [];
  const advertise = async (port: number) => {
    const proxy = await startProxy(port);
    brokers.push(proxy);
    return proxy.port;
  };
  const data = mkdtempSync(path.join(tmpdir(), 'clickhouse-'));
  const [kafka, engine, postgres] = await Promise.all([
    ownBrokers(options.brokers, advertise),
    startEngine(data),
    startPostgres(),
  ]);
  const clickhouse = await startProxy(engine.port);
  const geyser = await startProxy(options.geyserPort);
  return {
    ...{ kafka, engine, postgres },
    proxies: { brokers, clickhouse, geyser },
    close: async () => {
      await Promise.all([...brokers, clickhouse, geyser].map((proxy) => proxy.close()));
      await Promise.all([kafka.stop(), engine.stop(), postgres.stop()]);
      rmSync(data, { recursive: true, force: true });
    },
  };
}
