import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimsOfDay, eventsOfDay } from '../../../api/figures/day-windows.ts';
import { createHandOver, createTableFeed } from '../../../api/latest/feed.ts';
import { createLatest } from '../../../api/latest/latest.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import type { View } from '../../../api/latest/view.ts';
import { rankingPage } from '../../../api/rankings/rankings.ts';
import type { Store } from '../../../clickhouse/client.ts';
import type { EventRow } from '../../../clickhouse/tables.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { countKinds, SETTINGS } from '../support/api.ts';
import { appliedRow, eventRow, key, policyRow, TIME } from '../support/rows.ts';

const HOUR_MS = 3_600_000;
const NOW = TIME * 1000;
const AHEAD = NOW + 48 * HOUR_MS;
/** Times of each coin's claims. */
const COINS = {
  first: [TIME - 3_600],
  second: [TIME - 3_600, TIME - 60],
  /** Its first claim leaves the window in ten minutes. It has more claims than a window knows: the store is asked. */
  third: [TIME - 85_800, ...Array.from({ length: 20 }, (_, at) => TIME - 120 + at)],
};
type Coin = keyof typeof COINS;

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
  await store.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
  await store.insert(
    'policies',
    Object.keys(COINS).map((name) => policyRow(name, 'usd')),
  );
  const events = Object.entries(COINS).flatMap(([name, times]) =>
    times.map((block_time, at) => eventRow(name, 'FeesClaimed', at, { block_time, amount_a: '5' })),
  ) as unknown as EventRow[];
  await store.insert('events', events);
  await countKinds(store, events);
});
afterAll(() => store.close());

/** @param hold a query that is not answered until the test lets it */
function watched(hold?: string) {
  const asked: string[] = [];
  const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // Queries on connections of their own are watched too.
  const { aside: _, ...alone } = store;
  const query: Store['query'] = async (sql, params) => {
    asked.push(sql);
    const rows = await store.query<never>(sql, params);
    if (hold === undefined || !sql.includes(hold)) return rows;
    reached.resolve();
    await held.promise;
    return rows;
  };
  const lines: Store['lines'] = (sql, params) => {
    asked.push(sql);
    return store.lines(sql, params);
  };
  const one: Store = { ...alone, query, lines };
  return { store: one, asked, reached: reached.promise, letGo: held.resolve };
}

/** Memory in the process that writes, and a clock that the test moves. */
function open(hold?: string) {
  let wall = NOW;
  const own = watched(hold);
  const latest = createLatest({
    ...{ currentStore: () => own.store, handOver: createHandOver() },
    ...{ clock: () => wall, monotonic: () => 0 },
  });
  const at = (moment: number) => {
    wall = moment;
  };
  return { ...own, latest, at };
}

const day = (name: Coin) => (view: View) => ({
  events: eventsOfDay(view, key(name)).count,
  claimed: claimsOfDay(view, key(name)).quote_amount,
});
const NOTHING = { events: 0, claimed: '0' };
const all = (name: Coin) => ({ events: COINS[name].length, claimed: String(5 * COINS[name].length) });

const mostActive = (view: View) =>
  rankingPage(view, SETTINGS, new URLSearchParams({ sort: 'activity' })).items.map(
    ({ mint, eventsLast24h }) => [mint, eventsLast24h.value],
  );
const countsOf = (counted: (name: Coin) => number) =>
  (['third', 'second', 'first'] as const).map((name) => [key(name), counted(name)]);

test('windows read while the clock was ahead, by key or all at once, are right once it is put back', async () => {
  const { latest, asked, at } = open();
  at(AHEAD);
  expect((await latest.read(day('first'))).value).toEqual(NOTHING);
  const before = asked.length;
  const made = await latest.read(day('second'));
  expect([made.value, asked.length]).toEqual([NOTHING, before]);
  at(NOW);
  expect([latest.stillHolds(made), latest.readNow(day('first'))]).toEqual([false, null]);
  for (const name of ['first', 'second', 'third'] as const)
    expect((await latest.read(day(name))).value).toEqual(all(name));
});

test('a window read by the right clock and again by one ahead is right once the clock is put back', async () => {
  const { latest, at } = open();
  for (const moment of [NOW, AHEAD, NOW]) {
    at(moment);
    expect((await latest.read(day('third'))).value).toEqual(moment === NOW ? all('third') : NOTHING);
  }
});

test.each([
  ['were moved on', [NOW, AHEAD, NOW]],
  ['were read', [AHEAD, NOW]],
])(
  'policies whose windows %s by a clock ahead are ranked correctly again once it is put back',
  async (_, moments) => {
    const { latest, at } = open();
    for (const moment of moments) {
      at(moment);
      const page = (await latest.read(mostActive)).value;
      if (moment === NOW) expect(page).toEqual(countsOf((name) => COINS[name].length));
      else expect(page).toEqual(expect.arrayContaining(countsOf(() => 0)));
    }
  },
);

test('a reader that waits for a window while the clock is put back gets what it holds by the right time', async () => {
  const { latest, at, reached, letGo } = open('FROM events FINAL');
  at(AHEAD);
  const reading = latest.read(day('first'));
  await reached;
  at(NOW);
  letGo();
  expect((await reading).value).toEqual(all('first'));
});

test('a value read beside the turns is right, though the clock was put back during a turn for another reader', async () => {
  const { latest, at, reached, letGo } = open("actor = 'keeper'");
  const keeper = (view: View) => view.single('keeperOfDay');
  at(AHEAD);
  const reading = latest.read(keeper);
  await reached;
  at(NOW);
  await latest.read(day('first'));
  letGo();
  const told = (await reading).value;
  expect(told).toEqual((await latest.read(keeper)).value);
  expect(told).not.toEqual([]);
});

test('a value kept for a short time by a clock ahead is read again once the clock is put back', async () => {
  const { latest, at } = open();
  const letters = (view: View) => view.single('deadLetters');
  at(AHEAD);
  expect((await latest.read(letters)).value).toBe('0');
  const letter = { id: 'one', what: 'event', at: 'x', reason: 'r', source: 'rpc', slot: null };
  await store.insert('dead_letters', [{ ...letter, byte_length: '0', bytes: '', read_at: 1 }]);
  at(NOW);
  expect((await latest.read(letters)).value).toBe('1');
});

test.each([
  ['is told what it writes', () => createHandOver()],
  ['reads the table of changes', (clock: () => number) => createTableFeed(store, () => 0, clock)],
])('a process that %s reads windows again after its clock was 20 minutes ahead', async (_, feedBy) => {
  let wall = NOW + 20 * 60_000;
  const clock = () => wall;
  const memory = createMemory({
    ...{ store: watched().store, feed: feedBy(clock) },
    ...{ clock, monotonic: () => 0, maxBytes: 10_000_000 },
  });
  expect((await memory.read(day('third'))).value).toEqual({ events: 20, claimed: '100' });
  wall = NOW;
  expect((await memory.read(day('third'))).value).toEqual(all('third'));
});

test('a clock that is put back by a minute or less has nothing read again', async () => {
  const { latest, asked, at } = open();
  const asksFor = async (moment: number) => {
    at(moment);
    const before = asked.length;
    await latest.read(day('first'));
    return asked.length > before;
  };
  expect(await asksFor(NOW)).toBe(true);
  expect(await asksFor(NOW - 60_000)).toBe(false);
  expect(await asksFor(NOW - 60_001)).toBe(true);
  expect(await asksFor(NOW - 60_000)).toBe(false);
});
