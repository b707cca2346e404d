import { afterAll, beforeAll, expect, test } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { type StubServer, serveStatements } from './support/stub-server.ts';

let server: StubServer;
let store: Store;
let body = '';
beforeAll(async () => {
  server = await serveStatements(() => body);
  store = await openServer(`${server.url}/x`, null, 'read');
});
afterAll(async () => {
  await store.close();
  await server.close();
});

const ROWS = '["address", "value"]\n["a", "1"]\n["b", "2"]\n';
const FAILURE = 'Code: 241. DB::Exception: memory limit exceeded (MEMORY_LIMIT_EXCEEDED)';

test.each([
  ['a failure as a row', `${ROWS}["${FAILURE}"]\n`],
  ['a failure as text', `${ROWS}${FAILURE}\n`],
  ['a failure as text behind half a row', `${ROWS}["c", ${FAILURE}\n`],
  [
    'a failure in a block of its own',
    `${ROWS}\r\n__exception__\r\ntag\r\n${FAILURE}\n80 tag\r\n__exception__\r\n`,
  ],
  ['half a row and nothing more', `${ROWS}["c", "3`],
  ['a failure in place of the first row', `["address", "value"]\n["${FAILURE}"]\n`],
  ['nothing at all, not even names', ''],
])('an answer that broke off is rejected: it ends with %s', async (_, answer) => {
  body = answer;
  await expect(store.lines('SELECT')).rejects.toThrow(/broke off/);
});

test('a whole answer is returned unchanged, with rows or without', async () => {
  for (const whole of [ROWS, '["address", "value"]\n']) {
    body = whole;
    expect(await store.lines('SELECT')).toBe(whole);
  }
});

test('each query asks the server not to write a failure into its answer as a row', async () => {
  body = '{"a":"1"}\n';
  expect(await store.query('SELECT')).toEqual([{ a: '1' }]);
  expect(server.told.at(-1)?.settings.get('http_write_exception_in_output_format')).toBe('0');
});

test.each([
  ['rows that end in the middle of one', '{"a":"1"}\n{"a":"2"'],
  ['rows before a failure', `{"a":"1"}\n${FAILURE}`],
  ['a page of something in between', '<html>moved</html>'],
])('an answer to a query that is not whole lines is rejected: %s', async (_, answer) => {
  body = answer;
  await expect(store.query('SELECT')).rejects.toThrow(/broke off/);
});
