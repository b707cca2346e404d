import { afterEach, expect, test } from 'vitest';
import { secondPricesRound } from '../../../ingest/poll/prices.ts';
import { key } from '../../api/support/rows.ts';
import { type AnsweringServer, serveAnswers } from '../../support/answering.ts';
import { captureLog, pollOptions } from './support/capture.ts';

let server: AnsweringServer;
afterEach(() => server.close());

let isWell = true;
afterEach(() => {
  isWell = true;
});

/** Rounds over policies' quote assets, of which the catalogue lists `listed`, at a source with these prices. */
async function roundOver(quotes: readonly string[], listed: readonly string[], prices: Map<string, string>) {
  server = await serveAnswers(({ query }) => {
    const mints = (query.get('mints') ?? '').split(',');
    if (!isWell) return { body: 'no reply' };
    return {
      body: {
        success: true,
        data: Object.fromEntries(mints.map((mint) => [mint, prices.get(mint) ?? null])),
      },
    };
  });
  const rowsOf = (sql: string) => (sql.includes('policies') ? quotes : listed).map((mint) => ({ mint }));
  const { config, store, signal, ...others } = pollOptions({ PRICE_URL: server.url }, {});
  const log = captureLog();
  const round = secondPricesRound({
    ...{ ...others, config, signal, log },
    store: {
      ...store,
      query: async (sql) => rowsOf(sql).sort((a, b) => (a.mint < b.mint ? -1 : 1)) as never[],
    },
  });
  return async () => {
    const before = log.readings().length;
    await round((records) => log.append(records));
    return log
      .readings()
      .slice(before)
      .flatMap((one) => (one.type === 'price' ? [[one.mint, one.usd]] : []));
  };
}

test('unlisted quotes are asked for in turns, 50 a round, after the listed ones', async () => {
  const listed = key('listed');
  const madeUp = Array.from({ length: 220 }, (_, n) => key(`made up ${n}`));
  const prices = new Map([listed, ...madeUp].map((mint) => [mint, '3.10']));
  const round = await roundOver([listed, ...madeUp], [listed], prices);
  const told: unknown[] = [];
  for (let n = 0; n < 5; n += 1) {
    const readings = await round();
    expect(readings[0]).toEqual([listed, '3.10']);
    expect(readings).toHaveLength(51);
    told.push(...readings.map(([mint]) => mint));
  }
  expect(new Set(told).size).toBe(221);
  expect(server.asked).toHaveLength(10);
});

test('unlisted quotes, once found to have no price, do not keep one with a price out of any round', async () => {
  const own = key('of its own');
  const madeUp = Array.from({ length: 120 }, (_, n) => key(`made up ${n}`));
  const round = await roundOver([own, ...madeUp], [], new Map([[own, '2']]));
  const first = [await round(), await round(), await round()].flat();
  expect(new Set(first.map(([mint]) => mint)).size).toBe(121);
  for (let n = 0; n < 5; n += 1) expect(await round()).toEqual([[own, '2']]);
  expect(server.asked.length).toBeLessThanOrEqual(16);
});

test('the lack of a price is recorded once, and again only after the mint had a price', async () => {
  const mint = key('one');
  const prices = new Map<string, string>();
  const round = await roundOver([mint], [], prices);
  expect(await round()).toEqual([[mint, null]]);
  expect(await round()).toEqual([]);
  prices.set(mint, '2');
  expect(await round()).toEqual([[mint, '2']]);
  expect(await round()).toEqual([[mint, '2']]);
  prices.delete(mint);
  expect(await round()).toEqual([[mint, null]]);
  expect(await round()).toEqual([]);
});

test('after an invalid reply the lack of a price is recorded again', async () => {
  // The next reading outdates the dead letter of that reply.
  const mint = key('one');
  const round = await roundOver([mint], [], new Map());
  expect(await round()).toEqual([[mint, null]]);
  isWell = false;
  await expect(round()).rejects.toThrow('1 of 1 questions to PRICE_URL failed');
  isWell = true;
  expect(await round()).toEqual([[mint, null]]);
});
