import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { daySeries } from '../../clickhouse/queries/analytics/day-series.ts';
import { type Migration, migrate, migrations } from '../../clickhouse/schema/migrate.ts';
import { underMigrationLock } from '../../clickhouse/schema/migration-lock.ts';
import { statementsOf } from '../../clickhouse/schema/statements.ts';
import { createMaterialiser } from '../../ingest/materialise/materialiser.ts';
import { factsOf } from '../../ingest/materialise/rows/facts.ts';
import { batchOf, key, logOf, PROGRAM, routed, transaction } from '../ingest/materialise/support/records.ts';
import { sumsOfTotals } from '../ingest/materialise/support/tables.ts';
import { PATIENCE_MS } from '../support/awaited.ts';
import { emptyDatabase, freshDatabaseUrl } from '../support/database.ts';

let store: Store;
beforeEach(async () => {
  store = await emptyDatabase();
});
afterEach(() => store.close());

async function schema(of: Store): Promise<unknown[]> {
  return of.query(
    `SELECT name, replaceAll(create_table_query, {database:String}, '') AS sql FROM system.tables
     WHERE database = currentDatabase() ORDER BY name`,
    { database: of.database },
  );
}

const LEDGER_OF_BEFORE = `CREATE TABLE migrations (name String, checksum String, applied_at DateTime64(3) DEFAULT now64(3))
ENGINE = ReplacingMergeTree(applied_at) ORDER BY name`;

/** Migrates as a version did that had only the files before `end`. */
async function migrateBefore(end: string): Promise<void> {
  for (const { name, sql, checksum } of migrations().filter(({ name }) => name < end)) {
    if (name.startsWith('0001')) await store.command(LEDGER_OF_BEFORE);
    for (const statement of statementsOf(sql)) await store.command(statement);
    await store.insert('migrations', [{ name, checksum }]);
  }
}

describe('migrating', () => {
  test('brings an empty database to the schema, and a second time does nothing', async () => {
    const names = migrations().map(({ name }) => name);
    expect(await migrate(store, null)).toEqual(names);
    const before = await schema(store);
    expect(await migrate(store, null)).toEqual([]);
    expect(await schema(store)).toEqual(before);
    expect(before.length).toBeGreaterThan(20);
  });

  test('runs only CREATE, ALTER and DROP on an empty database, and records every file', async () => {
    const statements: string[] = [];
    const command: Store['command'] = async (sql, params) => {
      statements.push(sql);
      await store.command(sql, params);
    };
    await migrate({ ...store, command }, null);
    expect(statements.filter((sql) => !/^(CREATE|ALTER|DROP)\b/.test(sql))).toEqual([]);
    expect(await store.query('SELECT name, checksum FROM migrations ORDER BY name')).toEqual(
      migrations().map(({ name, checksum }) => ({ name, checksum })),
    );
  });

  test('has its files numbered consecutively from 0001', () => {
    for (const [at, { name }] of migrations().entries())
      expect(name).toMatch(new RegExp(`^${String(at + 1).padStart(4, '0')}_`));
  });

  test('applies all files after an earlier run was killed in the middle of the first one', async () => {
    const [first] = migrations();
    for (const statement of statementsOf(first?.sql ?? '').slice(0, 3)) await store.command(statement);
    expect(await migrate(store, null)).toHaveLength(migrations().length);
  });

  test('includes facts from before slot intervals existed in all sums (migration 0007)', async () => {
    await migrateBefore('0007');
    const facts = [5n, 40_000n, 9_000_000n].map((slot) =>
      transaction(`at${slot}`, slot, [routed(slot), routed(1n, 'other')]),
    );
    await store.insert('events', factsOf(facts, PROGRAM, 0).events);
    expect(await migrate(store, null)).toContain('0007_spans.sql');
    const materialise = createMaterialiser({ store, programId: PROGRAM });
    await materialise(batchOf('transactions', logOf([transaction('new', 9_000_001n, [routed(7n)])])));
    // A process that takes a partition over sums everything that may not have been summed.
    expect(await sumsOfTotals(store)).toEqual({
      [key('mint')]: { routed: '9040012', events: '4' },
      [key('other')]: { routed: '3', events: '3' },
    });
    expect((await daySeries(store)).map((row) => row.routed_to_lp)).toEqual(['9040015']);
  });

  test.each([
    ['kept no hours gets one up to its last applied slot', '0016', [], [], ['1000']],
    ['kept none at first gets one up to its first hour', '0033', [500, 900], [], ['499']],
    ['kept them from slot 1 on gets none', '0033', [1], [], []],
    ['has such a hole gets no other', '0033', [500], [400], ['400']],
  ] as [string, string, number[], number[], string[]][])(
    'adds a stream hole for the slots before hours were kept: a store that %s',
    async (_, end, hours, holes, expected) => {
      await migrateBefore(end);
      await store.insert('applied', [{ topic: 'accounts', slot: '1000', log_offset: '9' }]);
      if (hours.length > 0)
        await store.insert(
          'hour_slots',
          hours.map((slot, hour) => ({ hour, slot })),
        );
      if (holes.length > 0)
        await store.insert(
          'stream_holes',
          holes.map((to_slot) => ({ after_slot: 0, to_slot })),
        );
      await migrate(store, null);
      expect(await store.query('SELECT after_slot, to_slot FROM stream_holes')).toEqual(
        expected.map((to_slot) => ({ after_slot: '0', to_slot })),
      );
    },
  );

  test('copies the latest row of each incomplete transaction to incomplete_by_slot, also when repeated', async () => {
    const bySlot = migrations().find(({ name }) => name.endsWith('_incomplete_by_slot.sql')) as Migration;
    await migrateBefore(bySlot.name);
    const row = { block_time: 7, policies: ['p'], missing: ['Routed'], reason: 'cut' };
    for (const one of [
      { ...row, slot: '5', signature: 'whole again' },
      { ...row, slot: '5', signature: 'whole again', policies: [], missing: [] },
      { ...row, slot: '6', signature: 'cut', block_time: null },
    ])
      await store.insert('incomplete_transactions', [one]);
    const expected = [
      { ...row, slot: '5', signature: 'whole again', block_time: '7', policies: [], missing: [] },
      { ...row, slot: '6', signature: 'cut', block_time: null },
    ];
    const kept = () => store.query('SELECT * FROM incomplete_by_slot FINAL ORDER BY slot');
    await migrate(store, null);
    expect(await kept()).toEqual(expected);
    // As after a run that was killed before it recorded the migration.
    for (const statement of statementsOf(bySlot.sql)) await store.command(statement);
    expect(await kept()).toEqual(expected);
  });

  test('lists a transaction in whole_transactions once per slot, written before, during or after migration 0036', async () => {
    await migrateBefore('0036');
    const row = (name: string, slot: number) => ({
      signature: name,
      slot,
      tx_index: 0,
      has_index: 1,
      failed: 0,
    });
    await store.insert('transactions', [row('a', 5), row('b', 5)]);
    const own = migrations().find(({ name }) => name.startsWith('0036')) as { sql: string };
    // A run that was killed before it recorded the migration, beside a writer.
    for (const statement of statementsOf(own.sql)) await store.command(statement);
    await store.insert('transactions', [row('c', 7)]);
    expect(await migrate(store, null)).toContain('0036_whole_transactions.sql');
    await store.insert('transactions', [row('a', 9)]);
    await store.command('OPTIMIZE TABLE whole_transactions FINAL');
    expect(
      await store.query('SELECT slot, signature FROM whole_transactions ORDER BY slot, signature'),
    ).toEqual([
      { slot: '5', signature: 'a' },
      { slot: '5', signature: 'b' },
      { slot: '7', signature: 'c' },
      { slot: '9', signature: 'a' },
    ]);
  });

  test('runs all INSERTs, and nothing else, over connections without an answer limit, and closes them', async () => {
    const told: Record<'asked' | 'waited', string[]> = { asked: [], waited: [] };
    let open = 0;
    const telling = (how: 'asked' | 'waited', close = store.close): Store => ({
      ...store,
      close,
      command: async (sql, params) => {
        told[how].push(sql);
        await store.command(sql, params);
      },
    });
    const patient = () => {
      open += 1;
      return telling('waited', async () => {
        open -= 1;
      });
    };
    // With a table, as a run that was killed leaves it, there may be rows as well.
    await store.command(LEDGER_OF_BEFORE);
    await migrate({ ...telling('asked'), patient }, null);
    const copies = migrations().flatMap(({ sql }) =>
      statementsOf(sql).filter((one) => one.startsWith('INSERT')),
    );
    expect(copies.length).toBeGreaterThan(5);
    expect(told.waited).toEqual(copies);
    expect(told.asked.filter((sql) => sql.startsWith('INSERT'))).toEqual([]);
    expect(open).toBe(0);
  });

  test('refuses a database with a migration that has changed since or that this version does not know', async () => {
    await migrate(store, null);
    const name = migrations()[0]?.name as string;
    await store.insert('migrations', [{ name, checksum: 'other', applied_at: '2100-01-01 00:00:00.000' }]);
    await expect(migrate(store, null)).rejects.toThrow(`migration ${name} was changed after it was applied`);
    await store.command('TRUNCATE TABLE migrations');
    await store.insert('migrations', [{ name: '9999_future.sql', checksum: 'x' }]);
    await expect(migrate(store, null)).rejects.toThrow('9999_future.sql, which this version does not know');
  });

  test('in three processes at once applies each file once', async () => {
    const url = freshDatabaseUrl();
    const children = await Promise.all(
      [1, 2, 3].map(async () => {
        const child = fork(path.join(import.meta.dirname, 'support/migrate-child.ts'), [url], {
          execArgv: [],
        });
        const [applied] = await once(child, 'message');
        return applied as string[];
      }),
    );
    expect(children.flat().sort()).toEqual(migrations().map(({ name }) => name));
    const shared = await openServer(url, null);
    await migrate(store, null);
    expect(await schema(shared)).toEqual(await schema(store));
    await shared.command(`DROP DATABASE ${shared.database} SYNC`);
    await shared.close();
  });
});

describe('the migration lock', () => {
  const times = { everyMs: 20, staleSeconds: 1, patienceMs: PATIENCE_MS };

  test('lets one holder in at a time', async () => {
    let inside = 0;
    const most: number[] = [];
    const task = async () => {
      inside += 1;
      most.push(inside);
      await store.query('SELECT sleepEachRow(0.01)');
      inside -= 1;
    };
    // So long that no run counts as dead, however busy the machine is.
    const patient = { ...times, staleSeconds: 60 };
    await Promise.all([1, 2, 3, 4, 5].map(() => underMigrationLock(store, '', task, patient)));
    expect(most).toEqual([1, 1, 1, 1, 1]);
  });

  test('is taken from a dead holder by the waiting runs, one at a time, and removed at the end', async () => {
    await store.command("CREATE TABLE migration_lock (nothing UInt8) ENGINE = Memory COMMENT 'the dead'");
    let inside = 0;
    const run = async () => {
      inside += 1;
      expect(inside).toBe(1);
      await store.query('SELECT sleepEachRow(0.05)');
      inside -= 1;
    };
    // Far longer than the interval at which a live run shows that it lives.
    const dead = { ...times, everyMs: 100, staleSeconds: 8 };
    await Promise.all([underMigrationLock(store, '', run, dead), underMigrationLock(store, '', run, dead)]);
    expect(
      await store.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() AND name = 'migration_lock'",
      ),
    ).toEqual([]);
  });

  test('is released after the work under it fails', async () => {
    const fail = () => Promise.reject(new Error('no disk'));
    await expect(underMigrationLock(store, '', fail, times)).rejects.toThrow('no disk');
    expect(await underMigrationLock(store, '', async () => 5, times)).toBe(5);
  });
});

describe('the statements of a migration file', () => {
  test('are split at semicolons, except inside strings, names and comments', () => {
    const sql = `-- a; b
SELECT 'x;y', 'it''s; \\'; z' /* c; d */, "e;f", \`g;h\`; -- trailing; 'quote
SELECT 2 -- no end`;
    expect(statementsOf(sql)).toEqual([`SELECT 'x;y', 'it''s; \\'; z' , "e;f", \`g;h\``, 'SELECT 2']);
  });
});
