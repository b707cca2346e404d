import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { BrokenAnswerError } from '../../runtime/errors.ts';
import { freshDatabase } from '../support/database.ts';
import { type StubServer, serveStatements } from './support/stub-server.ts';

const OF_CLICKHOUSE = { 'X-ClickHouse-Query-Id': 'any' };

let server: StubServer;
let store: Store;
let body = '';
let headers: Record<string, string> = {};
beforeAll(async () => {
  server = await serveStatements(
    () => body,
    () => headers,
  );
  store = await openServer(`${server.url}/x`, null, 'read');
});
beforeEach(() => {
  headers = OF_CLICKHOUSE;
});
afterAll(async () => {
  await store.close();
  await server.close();
});

const LINES = '["address", "value"]\n["a", "1"]\n["b", "2"]\n';
const ROWS = '[\n{"address":"a","value":"1"},\n{"address":"b","value":"2"}\n]\n';
const FAILURE = 'Code: 241. DB::Exception: memory limit exceeded (MEMORY_LIMIT_EXCEEDED)';

describe('lines', () => {
  test.each([
    ['a failure as a row', `${LINES}["${FAILURE}"]\n`],
    ['a failure as text', `${LINES}${FAILURE}\n`],
    ['a failure as text behind half a row', `${LINES}["c", ${FAILURE}\n`],
    [
      'a failure in a block of its own',
      `${LINES}\r\n__exception__\r\ntag\r\n${FAILURE}\n80 tag\r\n__exception__\r\n`,
    ],
    ['half a row and nothing more', `${LINES}["c", "3`],
    ['a whole row and nothing more', LINES],
    ['half of its end', `${LINES}[]`],
    ['a failure in place of the first row', `["address", "value"]\n["${FAILURE}"]\n`],
    ['nothing at all, not even names', ''],
    ['the end of another one behind its own', `${LINES}[]\n${LINES}[]\n`],
  ])('an answer that broke off is rejected: it ends with %s', async (_, answer) => {
    body = answer;
    await expect(store.lines('SELECT')).rejects.toThrow(BrokenAnswerError);
  });

  test('a whole answer is returned without its end, with rows or without', async () => {
    for (const whole of [LINES, '["address", "value"]\n']) {
      body = `${whole}[]\n`;
      expect(await store.lines('SELECT')).toBe(whole);
    }
  });
});

describe('rows', () => {
  test.each([
    ['half a row', ROWS.slice(0, -10)],
    ['a whole row', ROWS.slice(0, ROWS.indexOf(',\n'))],
    ['a failure', `${ROWS.slice(0, -3)}${FAILURE}`],
    ['a failure behind the last row', `${ROWS}${FAILURE}`],
    ['the bracket ahead of the first row', '[\n'],
    ['nothing at all', ''],
    ['one row that is in no list', '{"address":"a","value":"1"}\n'],
  ])('an answer that broke off is rejected: it ends with %s', async (_, answer) => {
    body = answer;
    await expect(store.query('SELECT')).rejects.toThrow(BrokenAnswerError);
  });

  test('whole answers are returned, with rows or without', async () => {
    body = ROWS;
    expect(await store.query('SELECT')).toEqual([
      { address: 'a', value: '1' },
      { address: 'b', value: '2' },
    ]);
    body = '[\n\n]\n';
    expect(await store.query('SELECT')).toEqual([]);
  });

  test('each query asks the server not to write a failure into its answer as a row', async () => {
    body = ROWS;
    await store.query('SELECT');
    expect(server.told.at(-1)?.settings.get('http_write_exception_in_output_format')).toBe('0');
  });
});

test.each<[string, (one: Store) => Promise<unknown>, string]>([
  ['rows', (one) => one.query('SELECT'), '[]\n'],
  ['lines', (one) => one.lines('SELECT'), `${LINES}[]\n`],
  ['an insert', (one) => one.insert('t', [{ a: 1 }]), ''],
  ['a command', (one) => one.command('OPTIMIZE'), ''],
])('a page of something in between does not pass for the answer to %s', async (_, ask, answer) => {
  body = answer;
  await ask(store);
  headers = { 'Content-Type': 'text/html' };
  for (body of [answer, '<html>back soon</html>'])
    await expect(ask(store)).rejects.toThrow(BrokenAnswerError);
});

test('the engine writes both forms so that each piece of them that lacks something is rejected', async () => {
  const engine = await freshDatabase();
  const whole: string[] = [];
  const sql = `SELECT number AS n, concat('x', '"\\n[]\\n') AS text FROM numbers({most:UInt64})`;
  for (const most of [0, 1, 3]) {
    expect(await engine.query(sql, { most })).toHaveLength(most);
    whole.push(await engine.lines(sql, { most }));
  }
  expect(whole.map((text) => text.split('\n').length - 2)).toEqual([0, 1, 3]);
  for (let end = 0; end < (whole[2] as string).length; end += 1) {
    body = `${(whole[2] as string).slice(0, end)}`;
    await expect(store.lines('SELECT')).rejects.toThrow(BrokenAnswerError);
  }
});
