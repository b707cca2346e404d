import { expect, test } from 'vitest';
import { createCells } from '../../../api/latest/cells/cells.ts';
import { type Chunk, foldLines, rowsAt } from '../../../api/latest/folded/chunk.ts';
import { createFolded } from '../../../api/latest/folded/folded.ts';
import { createFolding } from '../../../api/latest/folded/folding.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { AFTER_ALL_KEYS } from '../../../clickhouse/in-order.ts';
import { awaited } from '../../support/awaited.ts';
import { key } from '../support/rows.ts';

const KEYS = Array.from({ length: 2_000 }, (_, at) => key(`key ${at}`)).sort();
const ALL = { behind: '', last: AFTER_ALL_KEYS, most: 1_000_000 };
const [LOW, MIDDLE, HIGH] = [KEYS[10], KEYS[1_000], KEYS[1_990]] as [string, string, string];

/** One to three rows for a key. */
const rowsOf = (at: number, text = 'row') =>
  Array.from({ length: 1 + (at % 3) }, (_, row) => [KEYS[at], `${text} ${row} of ${at} "ü☃"\n`, at, null]);

const linesOf = (rows: readonly unknown[][]): string =>
  [['key', 'text', 'number', 'none'], ...rows].map((row) => `${JSON.stringify(row)}\n`).join('');

const allRows = (text?: string) => KEYS.flatMap((_, at) => rowsOf(at, text));
const found = (at: number, text?: string) =>
  rowsOf(at, text).map(([, of, number, none]) => ({ text: of, number, none }));

test('a folded stretch gives the rows of each of its keys, and none for a key between two of them', async () => {
  const chunk = await foldLines(linesOf(allRows()), ALL);
  expect(chunk.firsts.length).toBeGreaterThan(10);
  for (const at of KEYS.keys()) expect(rowsAt(chunk, KEYS[at] as string).rows).toEqual(found(at));
  for (const other of ['1', 'zzz', `${MIDDLE}1`, key('nobody')])
    expect(rowsAt(chunk, other).rows).toEqual([]);
});

test('a stretch without rows is known to be empty up to its end', async () => {
  for (const text of ['', linesOf([])]) {
    const chunk = await foldLines(text, ALL);
    expect([chunk.last, rowsAt(chunk, LOW).rows]).toEqual([AFTER_ALL_KEYS, []]);
  }
});

test('a stretch that reached its limit leaves the rows of its last key to the next stretch, wherever it was cut', async () => {
  const all = allRows();
  for (const most of [4, 5, 6, 7, 100, 101, 102, all.length]) {
    const chunk = await foldLines(linesOf(all.slice(0, most)), { ...ALL, most });
    const cut = all.slice(0, most).findLast(([one]) => one !== all[most - 1]?.[0])?.[0];
    expect(chunk.last).toBe(cut);
    expect(rowsAt(chunk, all[most - 1]?.[0] as string).rows).toEqual([]);
    expect(rowsAt(chunk, chunk.last).rows).toEqual(found(KEYS.indexOf(chunk.last)));
  }
});

const empty = () => ({ most: 10_000_000, used: 0 });
const textOf = (known: ReturnType<ReturnType<typeof createFolded>['get']>) =>
  known === undefined ? undefined : 'text' in known ? known.text : (known.rows[0] as { text: string }).text;
const first = (at: number, text?: string) => found(at, text)[0]?.text;

/** Reads everything that is due, from the given rows. */
async function readAll(folded: ReturnType<typeof createFolded>, rows: readonly unknown[][]): Promise<number> {
  let read = 0;
  for (let flight = folded.begin(); flight !== null; flight = folded.begin()) {
    flight.place(await stretchOf(rows, flight.stretch));
    read += 1;
  }
  return read;
}
const stretchOf = (rows: readonly unknown[][], stretch: typeof ALL): Promise<Chunk> => {
  const { behind, last, most } = stretch;
  const some = rows.filter(([one]) => (one as string) > behind && (one as string) <= last).slice(0, most);
  return foldLines(linesOf(some), stretch);
};

test('keys become known stretch by stretch, and a key not reached yet is unknown', async () => {
  const folded = createFolded(empty());
  expect(folded.get(LOW)).toBeUndefined();
  const flight = folded.begin();
  expect([folded.begin(), folded.has(HIGH)]).toEqual([null, true]);
  flight?.place(await stretchOf(allRows(), flight.stretch));
  expect([textOf(folded.get(LOW)), folded.get(HIGH), folded.has(HIGH)]).toEqual([
    first(10),
    undefined,
    false,
  ]);
  await readAll(folded, allRows());
  expect(textOf(folded.get(HIGH))).toBe(first(1_990));
  expect(folded.get('no ["key]')).toBeUndefined();
});

test('an update during the read of a stretch replaces what was read, and an update before it does not', async () => {
  const folded = createFolded(empty());
  await readAll(folded, allRows());
  folded.update(LOW, 'told', 5);
  folded.update(MIDDLE, null, 0);
  expect([folded.get(LOW), folded.get(MIDDLE)]).toEqual([{ text: 'told', until: 5 }, undefined]);
  folded.forget();
  folded.update(LOW, 'before', 0);
  const flight = folded.begin();
  folded.update(KEYS[11] as string, 'meanwhile', 0);
  folded.update(KEYS[12] as string, null, 0);
  flight?.place(await stretchOf(allRows('new'), flight.stretch));
  await readAll(folded, allRows('new'));
  const known = [10, 11, 12, 13].map((at) => textOf(folded.get(KEYS[at] as string)));
  expect(known).toEqual([first(10, 'new'), 'meanwhile', undefined, first(13, 'new')]);
});

test('a stretch that was being read when all of them were forgotten is not placed', async () => {
  const room = empty();
  const folded = createFolded(room);
  await readAll(folded, allRows());
  expect(room.used).toBeGreaterThan(10_000);
  folded.forget();
  expect([room.used, folded.get(LOW)]).toEqual([0, undefined]);
  const flight = folded.begin();
  folded.forget();
  flight?.place(await stretchOf(allRows(), flight.stretch));
  expect([room.used, folded.get(LOW), folded.isEmpty()]).toEqual([0, undefined, true]);
});

test('after the failed read of a stretch, only updates of keys in stretches read before are kept', async () => {
  const folded = createFolded(empty());
  const told = (flight: ReturnType<typeof folded.begin>) => {
    folded.update(LOW, 'told', 0);
    folded.update(HIGH, 'told', 0);
    flight?.fail();
    return [textOf(folded.get(LOW)), textOf(folded.get(HIGH)), folded.has(HIGH)];
  };
  expect(told(folded.begin())).toEqual([undefined, undefined, false]);
  const first = folded.begin();
  first?.place(await stretchOf(allRows(), first.stretch));
  expect(told(folded.begin())).toEqual(['told', undefined, false]);
});

test('after many updates all stretches are read again, and no text is kept twice', async () => {
  const room = empty();
  const folded = createFolded(room, 20_000);
  await readAll(folded, allRows());
  for (const one of KEYS.slice(0, 500)) folded.update(one, 'told', 0);
  expect(folded.isDue()).toBe(true);
  const [used, flight] = [room.used, folded.begin()];
  folded.update(MIDDLE, 'newer', 0);
  flight?.place(await stretchOf(allRows('again'), flight.stretch));
  await readAll(folded, allRows('again'));
  expect([textOf(folded.get(LOW)), textOf(folded.get(HIGH))]).toEqual([
    first(10, 'again'),
    first(1_990, 'again'),
  ]);
  expect(folded.isDue()).toBe(false);
  expect(Math.abs(room.used - used)).toBeLessThan(used / 10);
});

test('stretches that cannot be read again stay until their updates are twice the limit, and then are forgotten', async () => {
  const room = empty();
  const folded = createFolded(room, 20_000);
  await readAll(folded, allRows());
  const tellBytes = (bytes: number) => folded.update(LOW, 'x'.repeat(bytes), 5);
  const failAgain = () => folded.begin()?.fail();
  tellBytes(30_000);
  expect([failAgain(), folded.isEmpty(), textOf(folded.get(HIGH))]).toEqual([false, false, first(1_990)]);
  expect(textOf(folded.get(LOW))).toHaveLength(30_000);
  tellBytes(40_000);
  expect([failAgain(), folded.isEmpty(), room.used]).toEqual([true, true, 0]);
  expect([folded.get(LOW), folded.get(HIGH), folded.has(LOW)]).toEqual([undefined, undefined, false]);
  await readAll(folded, allRows('anew'));
  expect([textOf(folded.get(LOW)), folded.isDue()]).toEqual([first(10, 'anew'), false]);
});

const CANNOT = [
  ['whose table has grown too long', 'claims'],
  ['whose missing data is different at each look', 'totals'],
] as const;

test.each(CANNOT)(
  'a kind %s is read by key after many updates, and folded anew after a pause',
  async (_, kind) => {
    let [now, looks] = [0, 0];
    let cannot = false;
    const store = {
      query: async (sql: string) => {
        if (['GROUP BY _part', 'FROM system.tables', 'sum(claims)'].some((of) => sql.includes(of))) return [];
        looks += 1;
        if (sql.includes('AS mark')) return [{ mark: cannot ? 'another' : 'the same' }];
        return [{ rows: cannot ? '1000000000' : '0' }];
      },
      lines: async () => linesOf([]),
    } as unknown as Store;
    const cells = createCells(1_000_000);
    const folding = createFolding({
      ...{ store, cells, clock: Date.now, monotonic: () => now },
      ...{ mark: () => 'the same', before: async () => {} },
    });
    const begin = async () => {
      (await folding.begin([kind]))();
      return [cells.has(kind, HIGH), looks];
    };
    expect(await begin()).toEqual([true, 1]);
    cannot = true;
    const text = 'x'.repeat(2_000_000);
    for (const one of KEYS.slice(0, 20)) cells.set(kind, one, { value: [], until: 0, text, size: 0 }, now);
    cells.markInUse(kind, now);
    expect(folding.isUnderWay()).toBe(false);
    folding.readMore(now);
    expect(folding.isUnderWay()).toBe(true);
    await awaited(() => expect([cells.folded(kind)?.isEmpty(), looks]).toEqual([true, 2]));
    await awaited(() => expect(folding.isUnderWay()).toBe(false));
    expect(await begin()).toEqual([false, 2]);
    [now, cannot] = [now + 5_000, false];
    expect(await begin()).toEqual([true, 3]);
  },
);

test.each([
  ['read after the turn, which does not wait for it', '600000', [true, 2, 1]],
  ['left for a while if no read could take all of them', '1000000000', [false, 2, 0]],
])('a kind with more rows than a turn waits for is %s', async (_, events, outcome) => {
  let [looks, sums] = [0, 0];
  const store = {
    query: async (sql: string) => {
      if (sql.includes('AS mark')) return [{ mark: 'the same' }];
      if (sql.includes('FROM policy_totals')) sums += 1;
      if (!sql.includes('FROM events')) return [];
      looks += 1;
      return [{ rows: events }];
    },
    lines: async () => linesOf([]),
  } as unknown as Store;
  const cells = createCells(1_000_000);
  const folding = createFolding({
    ...{ store, cells, clock: Date.now, monotonic: () => 0 },
    ...{ mark: () => 'the same', before: async () => {} },
  });
  cells.markInUse('claims', 0);
  (await folding.begin(['claims']))();
  expect([cells.has('claims', HIGH), looks, sums]).toEqual([false, 1, 0]);
  folding.readMore(0);
  await awaited(() => expect(folding.isUnderWay()).toBe(false));
  expect([cells.has('claims', HIGH), looks, sums]).toEqual(outcome);
  folding.readMore(0);
  await awaited(() => expect(folding.isUnderWay()).toBe(false));
  expect(looks).toBe(2);
});

test('a key with more rows than one read takes is left to its own query, and all keys after it are read', async () => {
  const [long, longer] = [LOW, HIGH];
  const many = (one: string, count: number) =>
    Array.from({ length: count }, (_, row) => [one, `row ${row}`, row, null]);
  const extra = new Map([
    [long, many(long, 1_000)],
    [longer, many(longer, 110_000)],
  ]);
  const rows = KEYS.slice(10).flatMap((one, at) => extra.get(one) ?? rowsOf(at + 10));
  const store = {
    query: async () => [],
    lines: async (_: string, { behind, last, most }: typeof ALL) =>
      linesOf(rows.filter(([one]) => String(one) > behind && String(one) <= last).slice(0, most)),
  } as unknown as Store;
  const cells = createCells(1_000_000);
  const folding = createFolding({
    ...{ store, cells, clock: Date.now, monotonic: () => 0 },
    ...{ mark: () => null, before: async () => {} },
  });
  (await folding.begin(['venueAccounts']))();
  cells.markInUse('venueAccounts', 0);
  folding.readMore(0);
  await awaited(() => expect(folding.isUnderWay()).toBe(false));
  const known = KEYS.map((one) => cells.get('venueAccounts', one)?.value);
  const expected = KEYS.map((_, at) => found(at));
  // Keys before the first one are known to have no rows.
  expect(known.slice(0, 11)).toEqual([...Array(10).fill([]), undefined]);
  expect(known.slice(11, 1_990)).toEqual(expected.slice(11, 1_990));
  expect(known[1_990]).toBeUndefined();
  expect(known.slice(1_991)).toEqual(expected.slice(1_991));
  expect([long, MIDDLE, longer].map((one) => cells.has('venueAccounts', one))).toEqual([false, true, false]);
});

test('a key left out for its many rows is known once they are few, with an update made during the read', async () => {
  const folded = createFolded(empty(), 20_000);
  const many = Array.from({ length: 1_000 }, (_, row) => [LOW, `row ${row}`, row, null]);
  const others = allRows().filter(([one]) => String(one) > LOW);
  await readAll(folded, [...many, ...others]);
  const readAgain = async (rows: readonly unknown[][], meanwhile = () => {}) => {
    folded.update(HIGH, 'x'.repeat(30_000), 0);
    const flight = folded.begin();
    meanwhile();
    flight?.place(await stretchOf(rows, flight.stretch));
    await readAll(folded, rows);
    return [KEYS[5] as string, LOW, MIDDLE].map((one) => textOf(folded.get(one)));
  };
  // A new key is in front: LOW is as long as before, and nothing that was told about it is kept.
  const tell = () => folded.has(LOW) && folded.update(LOW, 'told', 0);
  const added = [...rowsOf(5), ...many, ...others];
  expect(await readAgain(added, tell)).toEqual([first(5), undefined, first(1_000)]);
  expect([folded.has(LOW), folded.has(MIDDLE), folded.isDue()]).toEqual([false, true, false]);
  const few = [...rowsOf(5), ...many.slice(0, 9), ...others];
  expect(await readAgain(few, tell)).toEqual([first(5), 'told', first(1_000)]);
  expect(await readAgain(few)).toEqual([first(5), 'row 0', first(1_000)]);
});

test('no stretch is read once the room is used up, and keys beyond it are unknown', async () => {
  const folded = createFolded({ most: 1, used: 0 }, 20_000);
  await readAll(folded, allRows());
  expect([textOf(folded.get(LOW)), folded.get(HIGH), folded.isDue()]).toEqual([first(10), undefined, false]);
  const flight = { of: folded.has(HIGH), due: folded.begin() };
  expect(flight).toEqual({ of: false, due: null });
});
