import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Session } from 'chdb';
import type { Store } from '../../../clickhouse/client.ts';
import { parameterText } from '../../../clickhouse/embedded/parameters.ts';
import { UNCOMPILED, WITHOUT_THREADS } from '../../../clickhouse/embedded/sessions.ts';
import { emptyStandardInput } from '../../../clickhouse/embedded/standard-input.ts';
import { migrate } from '../../../clickhouse/schema/migrate.ts';
import { CLUSTER_SETTINGS, SERVER_SETTINGS } from '../../../clickhouse/server-settings.ts';
import { LINES_FORMAT, LINES_WITH_AN_END, wholeLines, wholeRows } from '../../../clickhouse/whole-answers.ts';
import { freePort } from '../../support/free-port.ts';

export const CLUSTER = 'tried';

/**
 * The first shard is this engine, which has all rows. The others are at ports where nobody listens: statements are planned
 * over all of them.
 */
const shard = (port: number, weight: number): string =>
  `<shard><weight>${weight}</weight><internal_replication>true</internal_replication>
    <replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`;

async function configOf(shards: number): Promise<string> {
  const [own = 0, ...away] = await Promise.all(Array.from({ length: shards }, freePort));
  const all = [shard(own, 1), ...away.map((port) => shard(port, 0))].join('');
  return `<clickhouse><tcp_port>${own}</tcp_port>
    <remote_servers><${CLUSTER}>${all}</${CLUSTER}></remote_servers></clickhouse>`;
}

/** A statement of the cluster form for a single node: without ON CLUSTER, and without replication. */
const onOneNode = (form: string): string =>
  form
    .replace(/ON CLUSTER '\w+'/, '')
    .replace(
      /Replicated(\w*)\('[^']*', '\{replica\}'(?:, ([^)]*))?\)/,
      (_, kind: string, version?: string) => (version === undefined ? kind : `${kind}(${version})`),
    );

const SETTINGS = Object.entries({
  ...SERVER_SETTINGS,
  ...CLUSTER_SETTINGS,
  ...LINES_WITH_AN_END,
  // Statements are planned over all shards, and must not fail where one that is away is read.
  skip_unavailable_shards: 1,
  connections_with_failover_max_tries: 1,
}).map(([name, value]) => `${name} = ${typeof value === 'number' ? value : `'${value}'`}`);

const literal = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

export interface ClusterForm {
  store: Store;
  /** Every statement that was asked so far. */
  asked: Set<string>;
}

/**
 * The embedded engine of this process as a node of a cluster of so many shards, with the cluster form of the schema. No
 * other engine can be open in the process.
 */
export async function openClusterForm(shards: number): Promise<ClusterForm> {
  emptyStandardInput();
  const directory = mkdtempSync(path.join(tmpdir(), 'cluster-'));
  const config = path.join(directory, 'config.xml');
  writeFileSync(config, await configOf(shards));
  const session = new Session(path.join(directory, 'data'), { connectionArgs: [`--config-file=${config}`] });
  const answer = async (sql: string, params: object = {}, format = 'JSONEachRow'): Promise<string> => {
    const sets = Object.entries(params).map(
      ([name, value]) => `param_${name} = ${literal(parameterText(value))}`,
    );
    const bound = sets.length === 0 ? sql : `SET ${sets.join(', ')}; ${sql}`;
    return (await session.queryAsync(bound, { format })).text();
  };
  // One after the other: what is set for one is set for the session.
  let idle: Promise<unknown> = Promise.resolve();
  const run: typeof answer = (...asked) => {
    const answered = idle.then(() => answer(...asked));
    idle = answered.catch(() => undefined);
    return answered;
  };
  await run('CREATE DATABASE clustered ENGINE = Atomic');
  await run('USE clustered');
  await run(`SET ${[...SETTINGS, ...WITHOUT_THREADS, ...UNCOMPILED].join(', ')}`);
  const asked = new Set<string>();
  const ask: typeof run = (sql, ...rest) => {
    asked.add(sql);
    return run(sql, ...rest);
  };
  const store: Store = {
    database: 'clustered',
    query: async <Row>(sql: string, params?: object) => wholeRows<Row>(await ask(sql, params)),
    lines: async (sql, params) => wholeLines(await ask(sql, params, LINES_FORMAT)),
    insert: async (table, rows) => {
      if (rows.length === 0) return;
      await run(
        `INSERT INTO ${table} FORMAT JSONEachRow\n${rows.map((row) => JSON.stringify(row)).join('\n')}`,
      );
    },
    command: async (sql, params) => void (await ask(onOneNode(sql), params)),
    close: async () => {
      session.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await migrate({ ...store, exclusive: true }, CLUSTER);
  return { store, asked };
}
