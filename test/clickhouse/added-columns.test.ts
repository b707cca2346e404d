import { afterEach, describe, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { forCluster } from '../../clickhouse/schema/cluster.ts';
import { migrations } from '../../clickhouse/schema/migrate.ts';
import { statementsOf } from '../../clickhouse/schema/statements.ts';
import { LATEST_TABLES } from '../../clickhouse/tables.ts';
import { PROGRAM_TABLES } from '../../ingest/materialise/rows/program-account.ts';
import { type AccountType, storedFields } from '../../schemas/program/account-fields.ts';
import { policyRow } from '../api/support/rows.ts';
import { emptyDatabase } from '../support/database.ts';

const STATEMENTS = migrations().flatMap(({ sql }) => statementsOf(sql));
const CREATE = STATEMENTS.find((sql) => sql.startsWith('CREATE TABLE IF NOT EXISTS policies ')) as string;
const ADD = 'ALTER TABLE policies ADD COLUMN IF NOT EXISTS added_since Nullable(UInt16)';

let store: Store;

/** One engine stands for both: a distributed table reads a local one of the same engine. */
const FORMS = {
  'one server': async () => [CREATE],
  'a cluster': async () => {
    const [local] = forCluster(CREATE, 'main') as [string, string];
    return [
      local.replace(" ON CLUSTER 'main'", '').replace(/Replicated(\w+)\([^()]*, version\)/, '$1(version)'),
      `CREATE TABLE policies AS remote('127.0.0.1', '${store.database}', 'policies_local', cityHash64(address))`,
    ];
  },
};

const forms = Object.keys(FORMS) as (keyof typeof FORMS)[];

describe.each(forms)('a column added to an account table, on %s', (form) => {
  afterEach(() => store.close());

  test('is null in rows written before or without it, and has the written value in later rows', async () => {
    store = await emptyDatabase();
    for (const sql of await FORMS[form]()) await store.command(sql);
    const at = (version: number, more = {}) => ({ version: String(version), ...more });
    await store.insert('policies', [policyRow('before', 'usd'), policyRow('read anew', 'usd', at(1))]);
    const added = form === 'one server' ? [ADD] : forCluster(ADD, 'main');
    // Twice, as when an interrupted migration is run again.
    for (const sql of [...added, ...added]) await store.command(sql.replace(" ON CLUSTER 'main'", ''));
    await store.insert('policies', [policyRow('read anew', 'usd', at(2, { added_since: 0 }))]);
    // Written by a process of the previous version.
    await store.insert('policies', [policyRow('without', 'usd')]);
    const rows = await store.query<{ mint: string; added_since: number | null }>(
      'SELECT mint, added_since FROM policies FINAL',
    );
    const found = new Map(rows.map(({ mint, added_since }) => [mint, added_since]));
    const mintOf = (name: string) => policyRow(name, 'usd').mint as string;
    expect(found).toEqual(
      new Map([
        [mintOf('before'), null],
        [mintOf('without'), null],
        [mintOf('read anew'), 0],
      ]),
    );
  });
});

const ADDED = STATEMENTS.flatMap((sql) => {
  const [, table, column, type = ''] =
    /^ALTER TABLE (\w+)\s+ADD COLUMN IF NOT EXISTS (\w+) ([\s\S]*)/.exec(sql) ?? [];
  return table === undefined || column === undefined ? [] : [{ table, column, type }];
});

test('the migrations add columns, so that the test of each has cases', () => expect(ADDED).not.toEqual([]));

test.each(ADDED)(
  '$table: $column is Nullable or has a default that is neither 0 nor empty, for rows from before it',
  ({ table, column, type }) => {
    const isState = (LATEST_TABLES as readonly string[]).includes(table);
    expect(type).toMatch(isState ? /^Nullable\(/ : /^Nullable\(|\bDEFAULT\b/);
    expect(type).not.toMatch(/\bDEFAULT\s+(0|'')/);
    const accounts = Object.entries(PROGRAM_TABLES).filter(([, name]) => name === table);
    for (const [account] of accounts) {
      const field = storedFields(account as AccountType).find((stored) => stored.column === column);
      expect(field?.added, `${account}.${column} is to be marked added`).not.toBe(false);
    }
  },
);
