import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ClickHouseError } from '@clickhouse/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openEmbedded, openServer, type Store } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/schema/migrate.ts';
import { awaited } from '../support/awaited.ts';
import { freshDatabase } from '../support/database.ts';
import { serveStatements } from './support/stub-server.ts';

const TRANSPORTS: Record<string, () => Promise<Store>> = {
  'the engine in this process': async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'store-test-'));
    const store = await openEmbedded(directory);
    await migrate(store, null);
    const close = async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    };
    return { ...store, close };
  },
  'a server over HTTP': freshDatabase,
};

const MAX_U64 = '18446744073709551615';

describe.each(Object.keys(TRANSPORTS))('a store on %s', (name) => {
  let store: Store;
  beforeAll(async () => {
    store = await (TRANSPORTS[name] as () => Promise<Store>)();
  });
  afterAll(() => store.close());

  test('gives 64-bit integers and wider as strings, small ones and flags as numbers', async () => {
    const [row] = await store.query(
      `SELECT toUInt64('${MAX_U64}') AS a, toInt64(-5) AS b, toUInt128('340282366920938463463374607431768211455') AS c,
         toUInt32(4294967295) AS d, toUInt8(1) AS e, CAST(NULL, 'Nullable(UInt64)') AS f, sum(toUInt128(1)) AS g`,
    );
    expect(row).toEqual({
      a: MAX_U64,
      b: '-5',
      c: '340282366920938463463374607431768211455',
      d: 4294967295,
      e: 1,
      f: null,
      g: '1',
    });
  });

  test('binds every text as it is, alone and in a list', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary' }),
        fc.array(fc.string({ unit: 'binary' })),
        async (text, list) => {
          const [row] = await store.query('SELECT {text:String} AS text, {list:Array(String)} AS list', {
            text,
            list,
          });
          expect(row).toEqual({ text, list });
        },
      ),
      { numRuns: 60, seed: 5 },
    );
  });

  test('binds numbers, flags and null', async () => {
    const params = { a: 18446744073709551615n, b: -7, c: true, d: null, e: [1n, 2n] };
    const sql = `SELECT {a:UInt64} AS a, {b:Int32} AS b, {c:UInt8} AS c, {d:Nullable(String)} AS d, {e:Array(UInt64)} AS e`;
    expect(await store.query(sql, params)).toEqual([{ a: MAX_U64, b: -7, c: 1, d: null, e: ['1', '2'] }]);
  });

  test('keeps the parameters of concurrent queries apart', async () => {
    const asked = Array.from({ length: 60 }, (_, at) =>
      store.query<{ x: string }>('SELECT {x:String} AS x, sleepEachRow(0.002) AS s', { x: `value ${at}` }),
    );
    const answers = await Promise.all(asked);
    expect(answers.map(([row]) => row?.x)).toEqual(answers.map((_, at) => `value ${at}`));
  });

  test('refuses a query whose parameter was given only to an earlier query', async () => {
    for (let at = 0; at < 8; at += 1) await store.query('SELECT {left_over:String} AS x', { left_over: 'x' });
    for (let at = 0; at < 8; at += 1) {
      await expect(store.query('SELECT {left_over:String} AS x', {})).rejects.toThrow(ClickHouseError);
    }
  });

  test('rejects with a ClickHouseError that has code and type', async () => {
    const error = await store.query('SELECT nothing_of_that_name').catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ClickHouseError);
    expect(error).toMatchObject({ code: '47', type: 'UNKNOWN_IDENTIFIER' });
  });

  test('refuses an insert with a field that the table does not have, and writes none of its rows', async () => {
    const good = {
      id: 'x',
      what: 'event',
      at: 'a',
      reason: 'r',
      source: 'stream',
      byte_length: '0',
      bytes: '',
      read_at: '1',
    };
    await expect(store.insert('dead_letters', [good, { ...good, id: 'y', surprise: 1 }])).rejects.toThrow(
      ClickHouseError,
    );
    expect(await store.query('SELECT id FROM dead_letters')).toEqual([]);
  });

  test('inserts rows whose text holds quotes, semicolons, comments and statements', async () => {
    const texts = [
      "'); DROP TABLE mints; --",
      'a;b',
      '/* x */ SELECT 1',
      '{a:String}',
      'tab\tnew\nline \\ "quoted" é ∑ 𝕊',
    ];
    await store.insert(
      'metadata_documents',
      texts.map((uri, at) => ({ mint: `m${at}`, read_at: '1', uri, image_url: null, error: null })),
    );
    const rows = await store.query<{ uri: string }>('SELECT uri FROM metadata_documents ORDER BY mint');
    expect(rows.map(({ uri }) => uri)).toEqual(texts);
  });

  test('applies no setting of one statement to the next', async () => {
    await store.query(
      'SELECT 1 AS x SETTINGS max_result_rows = 1, output_format_json_quote_64bit_integers = 0',
    );
    for (let at = 0; at < 8; at += 1) {
      expect(await store.query('SELECT toUInt64(number) AS n FROM numbers(2)')).toEqual([
        { n: '0' },
        { n: '1' },
      ]);
    }
  });
});

test('an aside store of a server answers while all connections of the main one are busy', async () => {
  // Not the run's engine: keeping its connections busy would block every other test file.
  const server = await serveStatements(({ sql }) => (sql.includes('busy') ? null : [{ one: 1 }]));
  onTestFinished(() => server.close());
  const store = await openServer(`${server.url}/x`, null, 'read');
  const busy = Array.from({ length: 32 }, () => store.query("SELECT 'busy'").catch(() => null));
  // All its connections are busy: on the same ones a query would be answered only once they are given up.
  await awaited(() => expect(server.told).toHaveLength(16));
  expect(await store.aside?.(1).query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(server.told).toHaveLength(17);
  await server.close();
  await Promise.all(busy);
  await store.close();
});
