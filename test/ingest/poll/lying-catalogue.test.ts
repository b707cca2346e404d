import { setImmediate as breathe } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readingRow } from '../../../ingest/materialise/rows/reading.ts';
import { readCatalogue, readCataloguePrice } from '../../../ingest/poll/venues/catalogue.ts';
import { key } from '../../api/support/rows.ts';
import { type AnsweringServer, serveAnswers } from '../../support/answering.ts';
import { embeddedDatabase } from '../../support/embedded.ts';

let server: AnsweringServer;
let body = '';
let status = 200;
beforeEach(async () => {
  status = 200;
  server = await serveAnswers(() => ({ status, body }));
});
afterEach(() => server.close());

const ROW = { mint: key('a'), symbol: 'A', name: 'Asset', decimals: 6, category: 'custom' };
const PAIR = JSON.stringify(ROW);
const NESTED = '['.repeat(50_000) + ']'.repeat(50_000);

const read = () => readCatalogue(server.url, new AbortController().signal);

test('a row nested too deeply to be written is left out, and no other row', async () => {
  body = `{"data":{"pairs":[{"mint":${NESTED}},${PAIR}]}}`;
  const { records, failure } = await read();
  expect(failure).toBeNull();
  expect(records).toMatchObject([
    { reading: { type: 'catalogue', rows: [{ mint: key('a') }] } },
    { kind: 'dead-letter', reason: expect.stringContaining('1 rows left out') },
  ]);
});

test('a list without a readable row is a failure without a reading, while an empty list is a reading', async () => {
  body = JSON.stringify({ data: { pairs: [{ ...ROW, mint: 'no key' }, 5] } });
  const { records, failure } = await read();
  const error = 'none of 2 rows can be read, the first for: pair.mint: no public key';
  expect(failure).toEqual({ error, retryAfterMs: null });
  expect(records).toMatchObject([{ kind: 'dead-letter', what: 'reading:catalogue', reason: error }]);
  body = '{"data":{"pairs":[]}}';
  expect(await read()).toMatchObject({ records: [{ reading: { rows: [] } }], failure: null });
});

test('a 404 with the catalogue’s own not_found means that it has no price, any other 404 is a failure', async () => {
  const price = () => readCataloguePrice(server.url, key('a'), new AbortController().signal);
  status = 404;
  body = JSON.stringify({ error: { code: 'not_found', message: 'no such quote', retryable: false } });
  expect(await price()).toMatchObject({
    records: [{ reading: { type: 'price', mint: key('a'), usd: null, observedAt: null } }],
    failure: null,
  });
  for (const other of [
    '<html>404</html>',
    '',
    '{}',
    '{"message":"Not Found"}',
    '{"error":"x"}',
    '{"error":{"code":"404","message":"The page could not be found"}}',
    '{"error":{"code":"not_found","message":"not now","retryable":true}}',
    '[]',
    'null',
  ]) {
    body = other;
    expect(await price(), other).toEqual({
      records: [],
      failure: { error: 'answered 404', retryAfterMs: null },
    });
  }
});

test('a price reply for another mint is a failure, not a price of the mint that was asked for', async () => {
  const price = (mint: string) => readCataloguePrice(server.url, key(mint), new AbortController().signal);
  const prices = { quoteUsd: 2.5, observedAt: '2026-11-01T00:00:00Z' };
  body = JSON.stringify({ data: { quote: { mint: key('a'), symbol: 'A', decimals: 6 }, prices } });
  expect(await price('a')).toMatchObject({
    records: [{ reading: { mint: key('a'), usd: '2.5' } }],
    failure: null,
  });
  const error = 'pricing.data.quote.mint: another mint';
  const { records, failure } = await price('b');
  expect(failure).toEqual({ error, retryAfterMs: null });
  expect(records).toMatchObject([
    { kind: 'dead-letter', what: 'reading:price', where: key('b'), reason: error },
  ]);
});

test('a list of 20,000 pairs and more than 4 MB is read whole without blocking the event loop', async () => {
  const name = 'n'.repeat(120);
  const pairs = Array.from({ length: 20_000 }, (_, n) => ({ ...ROW, mint: key(`pair ${n}`), name }));
  body = JSON.stringify({ data: { pairs } });
  expect(body.length).toBeGreaterThan(4 * 1024 * 1024);
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns += 1) await breathe();
  })();
  const { records, failure } = await read();
  isOver = true;
  await others;
  expect(failure).toBeNull();
  expect(records).toMatchObject([{ reading: { rows: { length: 20_000 } } }]);
  // All rows are gone through twice, a hundred at a time.
  expect(turns).toBeGreaterThan(400);
});

test('a logo URL at a private address is dropped, unless it is on the catalogue’s own host', async () => {
  const logos = [
    ...[
      'http://192.168.0.1/cgi-bin',
      'http://169.254.169.254/latest',
      'https://router.local/x',
      'http://[::1]/x',
    ],
    ...['/own.png', 'https://images.example/a.png'],
  ];
  body = JSON.stringify({
    data: { pairs: logos.map((logoUrl, n) => ({ ...ROW, mint: key(`logo ${n}`), logoUrl })) },
  });
  const [record] = (await read()).records;
  const rows = record?.kind === 'reading' && record.reading.type === 'catalogue' ? record.reading.rows : [];
  expect(rows.map(({ logoUrl }) => logoUrl)).toEqual([
    ...[null, null, null, null],
    ...[`${server.url}/own.png`, 'https://images.example/a.png'],
  ]);
});

test('a reading with half a surrogate pair is stored, with U+FFFD in its place', async () => {
  const store = await embeddedDatabase();
  const row = { mint: key('a'), symbol: 'A\ud800', name: 'B', decimals: 6, category: 'custom' };
  const pair = { ...row, launchable: true, launchpadReady: true, logoUrl: null };
  const currency = { currency: '\udc00E', spotPrice: null, hasOptions: true, hasPerps: false };
  const readings = [
    { type: 'catalogue', rows: [pair] },
    { type: 'currencies', items: [currency] },
  ] as const;
  for (const reading of readings) {
    const { table, row } = readingRow({ kind: 'reading', readAt: 1, reading } as never);
    await store.insert(table, [row as never]);
  }
  expect(await store.query('SELECT rows.symbol[1] AS text FROM catalogue')).toEqual([{ text: 'A\ufffd' }]);
  expect(await store.query('SELECT rows.currency[1] AS text FROM currencies')).toEqual([{ text: '\ufffdE' }]);
  await store.close();
});
