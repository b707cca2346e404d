import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { deadLetterCount } from '../../clickhouse/queries/status/status-counts.ts';
import { freshDatabase, urlOf } from '../support/database.ts';

/** Settings that an account's profile may have: each would change a query's answer, or cut it. */
const PROFILE: Record<string, string> = {
  join_use_nulls: '1',
  join_default_strictness: 'ANY',
  join_algorithm: 'partial_merge',
  transform_null_in: '1',
  aggregate_functions_null_for_empty: '1',
  empty_result_for_aggregation_by_empty_set: '1',
  prefer_column_name_to_alias: '1',
  use_query_cache: '1',
  data_type_default_nullable: '1',
  precise_float_parsing: '0',
  output_format_json_quote_64bit_floats: '1',
  output_format_json_named_tuples_as_objects: '0',
  limit: '2',
  offset: '1',
  max_rows_to_read: '100000',
  max_result_rows: '1000',
  max_block_size: '100',
  ...{ read_overflow_mode: 'break', result_overflow_mode: 'break', timeout_overflow_mode: 'break' },
  ...{ max_rows_to_group_by: '1000', group_by_overflow_mode: 'any' },
  ...{ max_rows_in_distinct: '1000', distinct_overflow_mode: 'break' },
};

let own: Store;
let store: Store;
let profiled: http.Server;

/** The run's server as with that profile: each setting holds where a request does not set it. */
beforeAll(async () => {
  own = await freshDatabase();
  const to = new URL(urlOf(own));
  profiled = http.createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', to);
    for (const [name, value] of Object.entries(PROFILE))
      if (!url.searchParams.has(name)) url.searchParams.set(name, value);
    const { method = 'GET', headers } = request;
    const asked = http.request(url, { method, headers: { ...headers, host: url.host } }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    asked.end(await buffer(request));
  });
  await new Promise<void>((resolve) => profiled.listen(0, '127.0.0.1', resolve));
  const { port } = profiled.address() as AddressInfo;
  store = await openServer(`http://127.0.0.1:${port}/${own.database}`, null, 'read');
});
afterAll(async () => {
  await store.close();
  await new Promise((resolve) => {
    profiled.close(resolve);
    profiled.closeAllConnections();
  });
  await own.close();
});

test('unresolved dead letters are counted correctly, whatever the account’s profile', async () => {
  const letter = { what: 'event', at: 'a', reason: 'r', source: 'stream', byte_length: '0', bytes: '' };
  await own.insert(
    'dead_letters',
    ['x', 'y', 'z'].map((id) => ({ ...letter, id, read_at: '1' })),
  );
  await own.insert('resolved_letters', [{ id: 'z', read_at: '1' }]);
  expect(await deadLetterCount(store)).toBe('2');
});

test('a limit and an offset in the account’s profile leave no row out', async () => {
  expect(await store.query('SELECT number FROM numbers(5)')).toHaveLength(5);
});

test.each([
  ['of rows that are read', 'SELECT count() AS n FROM numbers(1000000) WHERE number % 3 = 0'],
  ['of rows of an answer', 'SELECT number FROM numbers(5000)'],
  ['of groups', 'SELECT count() AS n FROM (SELECT number AS n FROM numbers(50000) GROUP BY n)'],
  ['of rows that are told apart', 'SELECT count() AS n FROM (SELECT DISTINCT number FROM numbers(50000))'],
])('reaching the profile’s limit %s is an error', async (_, sql) => {
  await expect(store.query(sql)).rejects.toThrow(/[Ll]imit/);
});

test.each<[string, string, object]>([
  ['a sum of nothing', 'SELECT sum(number) AS x FROM numbers(0)', { x: '0' }],
  [
    'NULL in a list',
    'SELECT countIf(x IN (NULL, 1)) AS x FROM (SELECT CAST(NULL AS Nullable(UInt8)) AS x)',
    { x: '0' },
  ],
  ['an alias', 'SELECT number + 1 AS number FROM numbers(2) WHERE number = 2', { number: '2' }],
  ['a float', "SELECT CAST('1.5' AS Nullable(Float64)) AS x", { x: 1.5 }],
  ['a tuple', "SELECT CAST(tuple('m'), 'Tuple(mint String)') AS x", { x: { mint: 'm' } }],
  [
    'a join',
    'SELECT count() AS x FROM numbers(1) AS a JOIN (SELECT 0 AS n FROM numbers(3)) AS b ON b.n = a.number',
    { x: '3' },
  ],
  [
    'the nearest row',
    `SELECT b.n AS x FROM (SELECT 1 AS one, 5 AS n) AS a
     ASOF JOIN (SELECT 1 AS one, number AS n FROM numbers(9)) AS b ON b.one = a.one AND b.n <= a.n`,
    { x: '5' },
  ],
])('%s has the usual result, whatever the profile', async (_, sql, row) => {
  expect(await store.query(sql)).toEqual([row]);
});

test('no answer comes from a query cache, and created columns are not Nullable', async () => {
  await store.command('CREATE TABLE grows (n UInt8) ENGINE = MergeTree ORDER BY n');
  for (const rows of [1, 2]) {
    await store.insert('grows', [{ n: rows }]);
    const asked = () => store.query('SELECT count() AS count FROM grows');
    expect(await asked()).toEqual([{ count: String(rows) }]);
    expect(await asked()).toEqual([{ count: String(rows) }]);
  }
  expect(await store.query("SELECT type FROM system.columns WHERE table = 'grows'")).toContainEqual({
    type: 'UInt8',
  });
});

test('an inserted float is read back exactly', async () => {
  await store.command('CREATE TABLE floats (f Float64) ENGINE = MergeTree ORDER BY f');
  const rows = [{ f: 4.676415809666135 }, { f: 6.742809471501459 }];
  await store.insert('floats', rows);
  expect(await store.query('SELECT f FROM floats ORDER BY f')).toEqual(rows);
});
