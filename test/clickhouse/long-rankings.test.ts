import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { type RankingSelection, rankedPage } from '../../clickhouse/queries/ranking/ranking.ts';
import { key, policyRow, TIME } from '../api/support/rows.ts';
import { freshDatabase } from '../support/database.ts';
import { embeddedDatabase } from '../support/embedded.ts';

const POLICIES = 20;
const names = Array.from({ length: POLICIES }, (_, at) => at);
const policies = names.map((at) =>
  policyRow(`coin ${at}`, `quote ${at % 4}`, { profit_swept: String(1 + at) }),
);
const mintOf = (at: number) => key(`coin ${at}`);
const addressOf = (at: number) => policies[at]?.address as string;

const SELECTION: RankingSelection = {
  ...{
    sort: 'profit',
    order: 'desc',
    limit: 100,
    offset: 0,
    mode: null,
    origin: null,
    model: null,
    quote: null,
  },
  ...{ locked: null, paused: null, search: null, launchpad: key('launchpad'), rates: [], window: null },
  ...{ undated: [], sumsKnown: true },
};

/** A list of so many keys with these among them, far apart. */
const among = (keys: readonly string[], count: number): string[] => {
  const all = Array.from({ length: count }, (_, at) => key(`other ${at}`));
  for (const [at, one] of keys.entries()) all[Math.floor(((at + 1) * count) / (keys.length + 1))] = one;
  return all;
};

/** Lengths of lists that need several pieces on a server, and on the embedded engine, which has one parameter text. */
const STORES = [
  ['a server', freshDatabase, 3_000],
  ['the embedded engine', () => embeddedDatabase(), 4_000],
] as const;

describe.each(STORES)('rankings by long lists of mints, on %s', (_, open, many) => {
  let store: Store;
  beforeAll(async () => {
    store = await open();
    await store.insert('policies', policies);
  });
  afterAll(() => store.close());

  test('rank policies by dollars, however many quote assets have a price', async () => {
    // The last of the four has no price.
    const worth = [3n, 1n, 2n];
    const priced = worth.map((_, at) => key(`quote ${at}`));
    const rates = among(priced, many).map((mint) => {
      const multiplier = worth[priced.indexOf(mint)];
      return multiplier === undefined
        ? { mint, multiplier: 10n ** 9n, divisor: 10n ** 12n }
        : { mint, multiplier, divisor: 1n };
    });
    const { total, places } = await rankedPage(store, { ...SELECTION, rates });
    const dollars = (at: number) => BigInt(at + 1) * (worth[at % 4] ?? 0n);
    const ranked = names
      .filter((at) => at % 4 < 3)
      .toSorted(
        (one, other) => Number(dollars(other) - dollars(one)) || (mintOf(one) < mintOf(other) ? -1 : 1),
      );
    expect(total).toBe(POLICIES);
    expect(places.slice(0, ranked.length).map(({ address }) => address)).toEqual(ranked.map(addressOf));
    const behind = await rankedPage(store, { ...SELECTION, rates, offset: 100 });
    expect(behind).toEqual({ total: POLICIES, places: [] });
  });

  test('have activity absent for exactly the mints with undated events, however many those are', async () => {
    const without = names.slice(5, 9);
    const { places } = await rankedPage(store, {
      ...{ ...SELECTION, sort: 'activity', window: { after: TIME - 100, until: TIME } },
      undated: among(without.map(mintOf), many),
    });
    const absent = places.filter(({ key: by }) => by === null).map(({ address }) => address);
    expect(absent.toSorted()).toEqual(without.map(addressOf).toSorted());
    expect(places).toHaveLength(POLICIES);
  });
});
