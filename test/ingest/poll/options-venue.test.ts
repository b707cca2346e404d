import { afterEach, expect, test } from 'vitest';
import { readOptionsVenue } from '../../../ingest/poll/venues/options.ts';
import { type Answer, type AnsweringServer, serveAnswers } from '../../support/answering.ts';

let server: AnsweringServer | null = null;
afterEach(() => server?.close());

async function readAt(answer: Answer) {
  server = await serveAnswers(() => answer);
  const { records } = await readOptionsVenue(server.url, new AbortController().signal);
  return records.map((record) => (record.kind === 'reading' ? record.reading : record));
}

const ROWS = [
  { currency: 'BTC', spot_price: '84829.66932265963', option: {}, perp: null },
  { currency: 'USDC', spot_price: '1', option: null, perp: null },
];

test('a good answer gives a venue status and the currencies that have options', async () => {
  expect(await readAt({ body: { id: 1, result: ROWS } })).toEqual([
    { type: 'venue_status', venue: 'options', ok: true, error: null },
    {
      type: 'currencies',
      items: [{ currency: 'BTC', spotPrice: '84829.66932265963', hasOptions: true, hasPerps: false }],
    },
  ]);
});

test('an invalid row is left out, an invalid price is null, and both rows are in one dead letter', async () => {
  const [btc] = ROWS;
  const odd = { ...btc, currency: 'ETH', spot_price: 3500 };
  expect(await readAt({ body: { result: [btc, 5, odd] } })).toMatchObject([
    { type: 'venue_status', ok: true, error: null },
    {
      type: 'currencies',
      items: [
        { currency: 'BTC', spotPrice: '84829.66932265963' },
        { currency: 'ETH', spotPrice: null },
      ],
    },
    {
      kind: 'dead-letter',
      what: 'reading:currencies',
      reason: '2 rows cannot be read whole, the first for: currency: no object',
      bytes: Buffer.from(`[5,${JSON.stringify(odd)}]`),
    },
  ]);
});

test.each<[string, Answer, RegExp, boolean]>([
  [
    'its own error',
    { status: 400, body: { error: { code: -32000, message: 'Rate limit' } } },
    /^answered error -32000$/,
    false,
  ],
  ['a busy text', { status: 503, body: 'busy' }, /^answered 503$/, false],
  [
    'an error of a proxy in front of it',
    { status: 429, body: { error: { code: 'rate_limited', message: 'slow down' } } },
    /^answered 429$/,
    false,
  ],
  ['a page', { body: '<html>' }, /not JSON/, true],
  ['another result', { body: { result: { currencies: ROWS } } }, /no list/, true],
  ['a list of rows that are none', { body: { result: [5, null] } }, /no object/, true],
])(
  '%s gives a failed venue status and no currencies, so that the last ones stay',
  async (_, answer, error, letter) => {
    const [status, ...rest] = await readAt(answer);
    expect(status).toMatchObject({ type: 'venue_status', ok: false, error: expect.stringMatching(error) });
    expect(rest).toHaveLength(letter ? 1 : 0);
    if (letter) expect(rest[0]).toMatchObject({ kind: 'dead-letter', what: 'reading:currencies' });
  },
);
