import fc from 'fast-check';
import { expect, test } from 'vitest';
import { touchedNothing } from '../../../api/latest/ranked/apply.ts';
import { ascendingPlaces, type OrderPlace, placesOf } from '../../../api/latest/ranked/direction.ts';
import { createOrder, type Filtered } from '../../../api/latest/ranked/order.ts';
import { createOrders } from '../../../api/latest/ranked/ranking.ts';
import { type RankedRow, rankedRow } from '../../../api/latest/ranked/row.ts';
import type { RankedPolicy } from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import { perSumSort } from '../../../schemas/responses/rankings.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);

const POLICY: RankedPolicy = {
  ...{ address: '', mint: '', block_time: null, quote_mint: 'q', bankroll: '', mode: 'Agent', origin: '' },
  ...{ origin_id: 0, model_id: 0, risk: 0, locked: 0, paused: 0, tokens_burned: '0' },
  ...{ profit_swept: '0', paid_to_holders: '0', created_at: '0' },
};

let rows = 0;

function rowOf(mint: number): RankedRow {
  const text = String(mint).padStart(4, '0');
  rows += 1;
  return rankedRow({ ...POLICY, address: text, mint: text }, rows, new Map());
}

test('an order updated by changed rows equals one sorted anew, filtered or not', () => {
  const change = fc.tuple(
    ...([fc.nat(40), fc.option(fc.bigInt({ min: 0n, max: 5n })), fc.boolean(), fc.nat(3)] as const),
  );
  const isOdd = (row: RankedRow) => row.events % 2 === 1;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.array(change, { maxLength: 12 }), fc.boolean()), { maxLength: 12 }),
      fc.boolean(),
      (rounds, down) => {
        const rows = new Map<number, RankedRow>();
        const order = createOrder([], (row) => row.cap);
        let filtered: Filtered | undefined;
        for (const [changes, looks] of rounds) {
          for (const [mint, cap, gone, events] of changes) {
            const row = rows.get(mint) ?? rowOf(mint);
            rows.set(mint, row);
            row.cap = cap;
            row.gone = gone;
            row.events = events;
            order.touch([row]);
            if (gone) rows.delete(mint);
          }
          const sorted = [...rows.values()].sort((one, other) => {
            const [a, b] = [one.cap, other.cap];
            if (a === b || a === null || b === null) {
              if ((a === null) !== (b === null)) return a === null ? 1 : -1;
              return one.mint < other.mint ? -1 : 1;
            }
            return a < b === down ? 1 : -1;
          });
          const mints = sorted.map((row) => row.mint);
          const told = (places: readonly OrderPlace[]) => places.map(({ row }) => row.mint);
          expect(told(order.slice(0, 100, down))).toEqual(mints);
          expect(told(order.slice(3, 9, down))).toEqual(mints.slice(3, 9));
          // A filtered list is brought up to date by one step or by several.
          if (looks) filtered = order.filter(isOdd, filtered);
          const odd = mints.filter((mint) => isOdd(rows.get(Number(mint)) as RankedRow));
          if (looks)
            expect(told(placesOf(ascendingPlaces([filtered?.places ?? []]), 0, 100, down))).toEqual(odd);
          expect(order.size()).toBe(mints.length);
        }
      },
    ),
    { seed: SEED },
  );
});

test('orders that exceed their bound together give the same pages as orders without that bound', () => {
  const rows = new Map(Array.from({ length: 30 }, (_, at) => [String(at), rowOf(at)]));
  const [bounded, free] = [createOrders(rows.size + 1), createOrders()];
  const none = {
    mode: null,
    origin: null,
    model: null,
    quote: null,
    locked: null,
    paused: null,
    search: null,
  };
  const rest = {
    launchpad: '',
    sumsKnown: true,
    undated: [],
    withoutSum: perSumSort(() => new Set<string>()),
    window: null,
    rates: [],
    offset: 0,
    limit: 50,
  };
  for (let round = 0; round < 4; round += 1)
    for (const sort of ['newest', 'activity', 'marketCap'] as const) {
      const touched = touchedNothing();
      for (const [at, row] of [...rows.values()].entries()) {
        row.newest = BigInt((at * 7 + round) % 11);
        touched.newest.add(row);
      }
      for (const orders of [bounded, free]) orders.touch(touched);
      const selection = { ...none, ...rest, sort, order: 'desc' as const };
      const [one, other] = [bounded, free].map((orders) => orders.page(rows, selection));
      expect([one?.total, one?.rows]).toEqual([other?.total, other?.rows]);
    }
});

test('kept searches take room by the length of their text, even if they find nothing', () => {
  const rows = new Map([['1', rowOf(1)]]);
  const orders = createOrders(100, 10_000);
  const none = { mode: null, origin: null, model: null, quote: null, locked: null, paused: null };
  let looked = 0;
  Object.defineProperty(rows.get('1'), 'name', {
    get: () => {
      looked += 1;
      return '';
    },
  });
  const find = (search: string) => {
    const rest = {
      launchpad: '',
      sumsKnown: true,
      undated: [],
      withoutSum: perSumSort(() => new Set<string>()),
    };
    const page = { window: null, rates: [], offset: 0, limit: 50, sort: 'newest', order: 'desc' } as const;
    orders.page(rows, { ...none, ...rest, ...page, search });
    return looked;
  };
  expect([find('short'), find('short')]).toEqual([1, 1]);
  for (let n = 0; n < 20; n += 1) find(`${n} ${'x'.repeat(4_000)}`);
  expect(find('short')).toBe(22);
});
