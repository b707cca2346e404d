import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { appliedRow, key, mintRow, policyRow } from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('policies', [policyRow('coin', 'usd')]);
  await api.insert('mints', [mintRow('coin', 6, { name: 'Coin', symbol: 'C', uri: '' })]);
  await api.insert('applied', [appliedRow('transactions', 0)]);
});

describe('requests with hostile text', () => {
  const seed = Number(process.env.FC_SEED ?? 20_261_121);
  const known = [
    'sort',
    'order',
    'limit',
    'offset',
    'mode',
    'origin',
    'model',
    'quote',
    'locked',
    'paused',
    'search',
  ];
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(
      "'",
      "' OR 1=1 --",
      '\\',
      '\0',
      '\n\t',
      '{x:String}',
      '\ud800',
      '𝒳',
      '%',
      '_',
      '[]',
      '-0',
      '1e9',
      'NaN',
      'true',
    ),
    fc.integer().map(String),
    fc.string({ minLength: 1000, maxLength: 1500 }),
  );
  const paths = [
    '/rankings',
    '/quotes',
    '/coins/x/activity',
    `/coins/${key('coin')}/activity`,
    `/coins/${key('coin')}/posts`,
  ];

  test(`any text as a query parameter is answered 200, 400, 404 or 431, never 500 (seed ${seed})`, async () => {
    const query = fc.array(fc.tuple(fc.constantFrom(...known), text), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), query, async (path, pairs) => {
        const { status } = await held.api.get(
          `${path}?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value.toWellFormed()]))}`,
        );
        expect([200, 400, 404, 431]).toContain(status);
      }),
      { seed, numRuns: 300, endOnFailure: true },
    );
  });

  test(`a search for any text is answered 200 or 431, never 500 (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(text, async (search) => {
        const encoded = encodeURIComponent(search.toWellFormed());
        for (const path of ['/rankings?sort=profit&search=', '/quotes?search=']) {
          expect([200, 431]).toContain((await held.api.get(path + encoded)).status);
        }
      }),
      { seed, numRuns: 150, endOnFailure: true },
    );
  });

  test(`any text as a mint below /coins is answered 404 or 431, never 500 (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(text, async (mint) => {
        const { status } = await held.api.request('GET', `/coins/${encodeURIComponent(mint.toWellFormed())}`);
        expect([404, 431]).toContain(status);
      }),
      { seed, numRuns: 150, endOnFailure: true },
    );
  });

  test('broken percent-escapes in the query do not fail the request', async () => {
    expect((await held.api.get('/rankings?search=%E0%A4%A&limit=%')).status).toBe(200);
  });
});
