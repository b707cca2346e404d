import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { forCluster, onClusterClause } from '../../clickhouse/schema/cluster.ts';
import { migrations } from '../../clickhouse/schema/migrate.ts';
import { ENGINES, replicaAdvice } from '../../clickhouse/schema/replicas.ts';
import { statementsOf } from '../../clickhouse/schema/statements.ts';
import { emptyDatabase } from '../support/database.ts';
import { serveStatements } from './support/stub-server.ts';

let store: Store;
beforeAll(async () => {
  store = await emptyDatabase();
});
afterAll(() => store.close());

const SINGLE = migrations().flatMap(({ sql }) => statementsOf(sql));
const isInsert = (sql: string) => sql.startsWith('INSERT INTO');

/** The statement as the engine formats it; throws where the engine cannot parse it. */
async function formatted(sql: string): Promise<string> {
  const [row] = await store.query<{ sql: string }>('SELECT formatQuerySingleLine({sql:String}) AS sql', {
    sql,
  });
  return row?.sql ?? '';
}

const isColumn = (sql: string) => /^ALTER TABLE \w+\s+ADD COLUMN/.test(sql);

/** The statement for a single server, from that for a node of the cluster. */
function withoutCluster(local: string): string {
  return local
    .replace(/ ON CLUSTER `?main`?/, '')
    .replace(/_local\b/g, '')
    .replace(
      /Replicated(\w*)\('[^']*', '\{replica\}'(?:, ([^)]*))?\)/,
      (_, kind: string, version?: string) => (version === undefined ? kind : `${kind}(${version})`),
    );
}

describe('the cluster form of the migrations', () => {
  test.each(
    SINGLE.filter((sql) => !isInsert(sql)).map((sql) => [sql.slice(0, 70).replaceAll('\n', ' '), sql]),
  )('%s', async (_, sql) => {
    const [local, distributed] = forCluster(sql, 'main') as [string, string | undefined];
    const node = await formatted(local);
    expect(node).toContain('ON CLUSTER main');
    expect(withoutCluster(node)).toBe((await formatted(sql)).replace('MergeTree()', 'MergeTree'));
    if (isColumn(sql)) {
      expect(await formatted(distributed ?? '')).toContain('ON CLUSTER main (ADD COLUMN IF NOT EXISTS');
      return;
    }
    if (distributed === undefined) {
      expect(node).toMatch(
        /^(CREATE MATERIALIZED|DROP) VIEW|^ALTER TABLE \w+_local .*\((ADD|MATERIALIZE) INDEX/,
      );
      return;
    }
    expect(node).toMatch(
      /Replicated(Replacing|Summing)?MergeTree\('\/clickhouse\/tables\/\{shard\}\/\{database\}\/\w+', '\{replica\}'/,
    );
    expect(await formatted(distributed)).toMatch(/ON CLUSTER main AS \w+_local ENGINE = Distributed\(/);
  });

  test('leaves INSERT statements as they are', () => {
    for (const sql of SINGLE.filter(isInsert)) expect(forCluster(sql, 'main')).toEqual([sql]);
  });

  test('shards each table by the first column of its key, so that versions of a row share a shard', async () => {
    for (const sql of SINGLE) {
      const [, distributed] = forCluster(sql, 'main');
      if (distributed === undefined || isColumn(sql)) continue;
      const column = /cityHash64\((\w+)\)/.exec(distributed)?.[1];
      expect(sql).toMatch(new RegExp(`ORDER BY \\(?${column}\\b`));
    }
  });

  test('shards incomplete_by_slot by signature as its source is, so that versions of a row share a shard', () => {
    const columnOf = (table: string) => {
      const made = SINGLE.find((sql) => sql.startsWith(`CREATE TABLE IF NOT EXISTS ${table} `)) ?? '';
      return /cityHash64\((\w+)\)/.exec(forCluster(made, 'main')[1] ?? '')?.[1];
    };
    expect(columnOf('incomplete_by_slot')).toBe(columnOf('incomplete_transactions'));
    expect(columnOf('incomplete_transactions')).toBe('signature');
  });

  test('quotes the name of the cluster, and adds nothing without one', () => {
    expect(onClusterClause("a'b\\c")).toBe("ON CLUSTER 'a\\'b\\\\c'");
    expect(onClusterClause(null)).toBe('');
  });

  test('adds a column to the local table of every node, then to the distributed one', async () => {
    const column = "ADD COLUMN IF NOT EXISTS max_drawdown_bps UInt16 DEFAULT 5 COMMENT 'of 10000' AFTER risk";
    const forms = forCluster(`ALTER TABLE policies\n  ${column}`, 'main');
    const alone = await formatted(`ALTER TABLE policies ${column}`);
    expect(await Promise.all(forms.map(formatted))).toEqual([
      alone.replace('policies', 'policies_local ON CLUSTER main'),
      alone.replace('policies', 'policies ON CLUSTER main'),
    ]);
  });

  test('adds an index to the local tables only', () => {
    for (const index of ['ADD INDEX IF NOT EXISTS x slot TYPE minmax', 'MATERIALIZE INDEX x'])
      expect(forCluster(`ALTER TABLE events ${index}`, 'main')).toEqual([
        `ALTER TABLE events_local ON CLUSTER 'main' ${index}`,
      ]);
  });

  test.each([
    'ALTER TABLE events ADD INDEX x slot TYPE minmax',
    'ALTER TABLE events ADD COLUMN x String',
    'ALTER TABLE events DROP COLUMN IF EXISTS slot',
    'DROP TABLE events',
  ])('is refused for a statement that has none or cannot be repeated: %s', (sql) => {
    expect(() => forCluster(sql, 'main')).toThrow('no cluster form');
  });
});

describe('the settings sent with each statement', () => {
  const settingsOf = async (cluster: string | null) => {
    const server = await serveStatements(() => []);
    const store = await openServer(`${server.url}/x`, cluster, 'read');
    await store.command('INSERT INTO quote_days SELECT * FROM quote_spans');
    await store.close();
    await server.close();
    return server.told.at(-1)?.settings;
  };

  test('have INSERT … SELECT read all shards at once on a cluster, and omit that for a single server', async () => {
    expect((await settingsOf('main'))?.get('parallel_distributed_insert_select')).toBe('0');
    expect((await settingsOf(null))?.get('parallel_distributed_insert_select')).toBeNull();
  });

  test('ask for sequential consistency without a cluster, and for the first replica on a cluster', async () => {
    expect((await settingsOf(null))?.get('select_sequential_consistency')).toBe('1');
    expect((await settingsOf('main'))?.get('select_sequential_consistency')).toBeNull();
    expect((await settingsOf('main'))?.get('load_balancing')).toBe('in_order');
  });

  test('turn off deduplication of inserts, with and without a cluster', async () => {
    for (const cluster of ['main', null])
      expect((await settingsOf(cluster))?.get('insert_deduplicate')).toBe('0');
  });
});

describe('the advice for a database opened without a cluster', () => {
  const adviceOn = async (engines: readonly string[]) => {
    const server = await serveStatements(() => engines.map((engine) => ({ engine })));
    const told = await openServer(`${server.url}/x`, null, 'read');
    const advice = await replicaAdvice(told);
    await told.close();
    await server.close();
    return advice;
  };

  test('is none if its tables are on a single server', async () => {
    await store.command('CREATE TABLE a (n UInt8) ENGINE = ReplacingMergeTree ORDER BY n');
    const asked = (await store.query<{ engine: string }>(ENGINES, { database: store.database })).map(
      ({ engine }) => engine,
    );
    expect(asked.toSorted()).toEqual(['Atomic', 'ReplacingMergeTree']);
    expect(await replicaAdvice(store)).toBeNull();
  });

  test('says of shared tables, as in ClickHouse Cloud, that they were never tried', async () => {
    expect(await adviceOn(['Replicated', 'SharedReplacingMergeTree', 'Memory'])).toMatch(
      /ClickHouse Cloud.*never tried/,
    );
  });

  test.each([[['Atomic', 'ReplicatedReplacingMergeTree', 'Distributed']], [['Replicated', 'MergeTree']]])(
    'says to name one replica if the database is replicated: %s',
    async (engines) => {
      expect(await adviceOn(engines)).toMatch(/CLICKHOUSE_CLUSTER is not set.*Name one replica/);
    },
  );
});

test('an existing database is opened to write while a node of the cluster does not answer', async () => {
  // A node that is away blocks every ON CLUSTER statement.
  const server = await serveStatements(({ sql }) =>
    sql.includes('ON CLUSTER') ? null : sql.includes('system.databases') ? [{ 1: 1 }] : [],
  );
  const store = await openServer(`${server.url}/there`, 'main');
  expect(server.told.map(({ settings }) => settings.get('param_name'))).toEqual(['there']);
  await store.close();
  await server.close();
});

test('a missing database is created on every node of the cluster', async () => {
  const server = await serveStatements(() => []);
  await (await openServer(`${server.url}/missing`, 'main')).close();
  expect(server.told.map(({ sql }) => sql)).toContainEqual(
    expect.stringMatching(/^CREATE DATABASE IF NOT EXISTS missing ON CLUSTER 'main' ENGINE = Atomic/),
  );
  await server.close();
});
