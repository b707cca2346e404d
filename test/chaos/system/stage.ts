import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../support/free-port.ts';
import { type Actor, createActor, KEPT } from './actor.ts';
import type { Servers } from './servers.ts';
import type { World } from './world.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../../..');

export interface StageOptions {
  world: World;
  servers: Servers;
  /** Directory for logs, and the processes' working directory. */
  directory: string;
  /** Names topics and database, so that several stages may follow one another on the same servers. */
  name: string;
  partitions: number;
  apis: number;
}

/** The product's processes on the servers. */
export interface Stage {
  world: World;
  servers: Servers;
  prefix: string;
  actors: ReadonlyMap<string, Actor>;
  apis: readonly Actor[];
  /** The actor of that name. @throws Error where there is none */
  actor(name: string): Actor;
  /** Adds an actor that runs this file, and starts it. */
  add(name: string, file: string, env?: Record<string, string>): Promise<Actor>;
  close(): Promise<void>;
}

export const portOf = ({ env }: Actor): string => env.PORT as string;

/** Migrates everything, and starts ingest and the APIs; the caller adds the materialisers. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { world, servers, directory, name, partitions } = options;
  const { proxies, kafka, postgres } = servers;
  const common: Record<string, string> = {
    KAFKA_BROKERS: kafka.brokers.join(','),
    KAFKA_TOPIC_PREFIX: name,
    KAFKA_PARTITIONS: String(partitions),
    CLICKHOUSE_URL: `http://127.0.0.1:${proxies.clickhouse.port}/${name}`,
    POSTGRES_URL: await postgres.freshUrl(),
    YELLOWSTONE_ENDPOINT: `127.0.0.1:${proxies.geyser.port}`,
    SOLANA_RPC_URL: world.rpcUrl,
    PROGRAM_ID: world.chain.programId,
    LOG_LEVEL: process.env.CHAOS_LOG_LEVEL ?? 'info',
  };
  await run(process.execPath, [path.join(ROOT, 'start/migrate.ts')], {
    cwd: directory,
    env: { ...KEPT, ...common },
  });
  const actors = new Map<string, Actor>();
  const add: Stage['add'] = async (actorName, file, own = {}) => {
    const env = { ...common, METRICS_PORT: String(await freePort()), ...own };
    const actor = createActor({ name: actorName, file, env, directory });
    actors.set(actorName, actor);
    actor.start();
    return actor;
  };
  await add('ingest', 'ingest/commands/ingest.ts');
  const apis: Actor[] = [];
  for (let at = 1; at <= options.apis; at += 1)
    apis.push(await add(`api-${at}`, 'api/main.ts', { PORT: String(await freePort()) }));
  return {
    ...{ world, servers, actors, apis, add },
    prefix: name,
    actor: (wanted) => {
      const actor = actors.get(wanted);
      if (actor === undefined) throw new Error(`no ${wanted} on the stage`);
      return actor;
    },
    close: async () => {
      await Promise.all([...actors.values()].map((actor) => actor.kill()));
    },
  };
}
