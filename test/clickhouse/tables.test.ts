import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { POLICY_SUMS, QUOTE_SUMS } from '../../clickhouse/sum-columns.ts';
import { PROGRAM_TABLES } from '../../ingest/materialise/rows/program-account.ts';
import { type AccountType, type FieldKind, storedFields } from '../../schemas/program/account-fields.ts';
import { fieldsOf } from '../../schemas/program/idl.ts';
import { freshDatabase } from '../support/database.ts';

let store: Store;
beforeAll(async () => {
  store = await freshDatabase();
});
afterAll(() => store.close());

/** The first columns of every latest-state table. */
const STATE = ['address', 'slot', 'version', 'block_time', 'source', 'exists'];
/** Columns of a row beside the account's fields. */
const BESIDE: Partial<Record<AccountType, string[]>> = {
  Policy: ['signature', 'bankroll', 'quote_escrow', 'base_escrow', 'holder_rewards'],
};
const INTEGERS: Record<string, string> = {
  u8: 'UInt8',
  u16: 'UInt16',
  u32: 'UInt32',
  u64: 'UInt64',
  i64: 'Int64',
};
/** The type of the column that a field of a kind is stored in; integers are as wide as the IDL has them. */
const COLUMN_TYPES: Record<FieldKind, (integer: string) => string> = {
  key: () => 'String',
  keyOrNone: () => 'Nullable(String)',
  hex: () => 'String',
  numbers: () => 'Array(UInt8)',
  text: () => 'String',
  flag: () => 'UInt8',
  number: (integer) => integer,
  amount: (integer) => integer,
  mode: () => 'LowCardinality(String)',
  venueKind: () => 'LowCardinality(String)',
};

test.each(Object.keys(PROGRAM_TABLES) as AccountType[])(
  'the table of %s has a column for each stored field, of its type, and no other',
  async (type) => {
    const columns = await store.query<{ name: string; type: string }>(
      'SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {table:String}',
      { database: store.database, table: PROGRAM_TABLES[type] },
    );
    const fields = storedFields(type);
    const expected = [...STATE, ...(BESIDE[type] ?? []), ...fields.map(({ column }) => column)];
    expect(columns.map(({ name }) => name).sort()).toEqual(expected.sort());
    const typeOf = new Map(columns.map(({ name, type: given }) => [name, given]));
    const integers = new Map(
      fieldsOf(type).map(({ name, type: given }) => [name, INTEGERS[String(given)] ?? '']),
    );
    for (const { column, kind, added } of fields) {
      const wanted = COLUMN_TYPES[kind](integers.get(column) ?? '');
      expect(typeOf.get(column), column).toBe(added ? `Nullable(${wanted})` : wanted);
    }
  },
);

test.each([
  [POLICY_SUMS, ['policy_totals', 'policy_spans']],
  [QUOTE_SUMS, ['quote_days', 'quote_spans']],
])('the tables of sums have exactly the columns that are read as sums (case %#)', async (sums, tables) => {
  const names = Object.keys(sums);
  for (const table of tables) {
    const columns = await store.query<{ name: string }>(
      'SELECT name FROM system.columns WHERE database = {database:String} AND table = {table:String}',
      { database: store.database, table },
    );
    const ofTheKey = ['mint', 'day', 'quote_mint', 'width', 'span', 'log_partition', 'log_offset'];
    expect(columns.map(({ name }) => name).filter((name) => !ofTheKey.includes(name))).toEqual(names);
  }
});
