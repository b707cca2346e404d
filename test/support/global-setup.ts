import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { openServer } from '../../clickhouse/client.ts';
import { migrate, migrations } from '../../clickhouse/schema/migrate.ts';
import { startClickHouse } from './clickhouse-process.ts';
import { useScratch } from './scratch.ts';
import { offerServers } from './servers-of-run.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the engine that all test files share; each makes databases of its own. */
    clickhouseUrl: string;
    /** Statements that make the current schema in an empty database, as one request to any engine. */
    schemaSql: string;
  }
}

/** Small parts and few background threads: with it the engine costs four fifths of what it does without. */
const CONFIG = path.resolve('clickhouse/embedded/engine.xml');

const TEMPLATE = 'schema_of_this_run';

/** The schema that the migrations leave, as the engine states it: as one request it takes half the time. */
async function schemaSql(url: string): Promise<string> {
  const store = await openServer(`${url}/${TEMPLATE}`, null);
  await migrate(store, null);
  const tables = await store.query<{ sql: string }>(
    "SELECT create_table_query AS sql FROM system.tables WHERE database = currentDatabase() ORDER BY engine = 'MaterializedView', name",
  );
  await store.close();
  const made = tables.map(({ sql }) => sql.replaceAll(`${TEMPLATE}.`, ''));
  const applied = migrations().map(({ name, checksum }) => `('${name}', '${checksum}')`);
  return [...made, `INSERT INTO migrations (name, checksum) VALUES ${applied.join(', ')}`].join(';\n');
}

/** Starts one engine for the whole run, as each takes 300 MB and most of a second; other servers start on demand. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const deleteScratch = useScratch();
  const clickhouse = await startClickHouse(undefined, 0, CONFIG);
  project.provide('clickhouseUrl', clickhouse.url);
  project.provide('schemaSql', await schemaSql(clickhouse.url));
  const servers = await offerServers();
  project.provide('serversUrl', servers.url);
  return async () => {
    await servers.close();
    await clickhouse.stop();
    deleteScratch();
  };
}
