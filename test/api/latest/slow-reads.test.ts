import { expect, test } from 'vitest';
import { createCells } from '../../../api/latest/cells/cells.ts';
import { withText } from '../../../api/latest/cells/texts.ts';
import { dropSlow } from '../../../api/latest/cells/touched.ts';
import { pageKey } from '../../../api/latest/kinds/kind.ts';
import type { KindName } from '../../../api/latest/kinds/kinds.ts';
import { createSlowReads } from '../../../api/latest/slow-reads.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { awaited } from '../../support/awaited.ts';

/** A store that answers nothing yet, and counts what it is asked. */
function silent(): { store: Store; asked(): number } {
  let asked = 0;
  const query = () => {
    asked += 1;
    return new Promise<never>(() => {});
  };
  return { store: { query, database: 'x' } as unknown as Store, asked: () => asked };
}

const HISTORIES: [KindName, string][] = [
  ['coinHistory', pageKey('mint', 'policy', 'bankroll', 'pool', 'quote', 0, 990)],
  ['protocolHistory', pageKey('', 0, 167, 1, 10)],
  ['protocolBegun', ''],
  ['protocolEvents', pageKey('', 0, 989, 1)],
  ['protocolNow', ''],
];

test('a page of activity does not wait for histories, which have connections of their own', async () => {
  const others = silent();
  const histories = silent();
  const reads = createSlowReads({
    ...{ store: others.store, longStore: histories.store, againStore: silent().store },
    cells: createCells(1_000_000),
    ...{ clock: () => 0, mark: () => null },
  }).forReader();
  for (const [kind, key] of HISTORIES) void reads.load(new Map([[kind, new Set([key])]]));
  await awaited(() => expect(histories.asked()).toBeGreaterThanOrEqual(HISTORIES.length));
  expect(others.asked()).toBe(0);
  void reads.load(new Map([['activity', new Set([pageKey('mint', 'false', 50, 0)])]]));
  await awaited(() => expect(others.asked()).toBe(1));
});

test('after a policy’s events change, recently read first pages of its activity are read again without a request', async () => {
  const cells = createCells(1_000_000);
  const pages = {
    read: pageKey('mint', 'false', 50, 0),
    left: pageKey('mint', 'false', 20, 0),
    further: pageKey('mint', 'false', 50, 50),
    other: pageKey('another', 'false', 50, 0),
  };
  for (const key of Object.values(pages))
    cells.set('activity', key, withText({ value: [], until: Number.POSITIVE_INFINITY }), 9_500);
  (cells.peek('activity', pages.left) as { usedAt: number }).usedAt = 8_000;
  const again = dropSlow(new Map([['events', new Set(['mint'])]]), cells, 10_000);
  expect(again).toEqual(new Map([['activity', new Set([pages.read])]]));
  expect([...cells.keys('activity')]).toEqual([pages.other]);

  const store = silent();
  const [others, histories] = [silent(), silent()];
  const reads = createSlowReads({
    ...{ store: others.store, longStore: histories.store, againStore: store.store },
    ...{ cells, clock: () => 0, mark: () => null },
  });
  reads.published(new Map(), again);
  await awaited(() => expect(store.asked()).toBe(1));
  // A later reader waits for the same query.
  void reads.forReader().load(again);
  await new Promise(setImmediate);
  // No other queries are in front of it.
  expect([store.asked(), others.asked(), histories.asked()]).toEqual([1, 0, 0]);
});

/** Sums of days from a store that the test has answer, beside a memory that the test sets. */
function daysOf() {
  const now = { stored: 'open', remembered: 'open', sum: '10' };
  let answer = () => {};
  let asked = 0;
  const query = async (sql: string) => {
    if (sql.includes('AS mark')) return [{ mark: now.stored }];
    if (!sql.includes('FROM quote_days')) return [];
    asked += 1;
    const row = { day: '2026-01-01', quote_mint: 'quote', routed_to_lp: now.sum };
    return new Promise((resolve) => {
      answer = () => resolve([row]);
    });
  };
  const store = { query, database: 'x' } as unknown as Store;
  const reads = createSlowReads({
    ...{ store, longStore: store, againStore: store, cells: createCells(1_000_000) },
    ...{ clock: () => 0, mark: () => now.remembered },
  });
  const reader = reads.forReader();
  const read = async (meanwhile: () => void, isWhole = true) => {
    const before = asked;
    const loads = reader.load(new Map([['days', new Set([''])]]));
    await awaited(() => expect(asked).toBe(before + 1));
    meanwhile();
    answer();
    await loads;
    return {
      isSettled: reader.isSettled(isWhole),
      days: JSON.stringify(reader.overlay.get('days')?.get('')?.value ?? null),
    };
  };
  return { now, read, reader, published: reads.published };
}

test('sums read while a gap closes are not served at all, and are right when read again', async () => {
  const { now, read, published } = daysOf();
  const during = await read(
    () => {
      // The last batch of the gap, and a turn.
      Object.assign(now, { sum: '25', stored: 'closed', remembered: 'closed' });
      published(new Map([['events', new Set(['mint'])]]), new Map());
    },
    // No piece is made from them either.
    false,
  );
  expect(during).toEqual({ isSettled: false, days: 'null' });
  const behind = await read(() => {});
  expect(behind).toEqual({ isSettled: true, days: expect.stringContaining('"25"') });
});

test('if what is missing changes during every read, sums are served from the seventh read', async () => {
  const { now, read, published } = daysOf();
  const settled: boolean[] = [];
  for (let n = 0; n < 10 && settled.at(-1) !== true; n += 1) {
    const { isSettled } = await read(() => {
      Object.assign(now, { stored: `mark ${n}`, remembered: `mark ${n}` });
      published(new Map(), new Map());
    });
    settled.push(isSettled);
  }
  expect(settled).toEqual([...Array(6).fill(false), true]);
});

test('sums of an answer made in pieces are checked against what is missing at its end, not between the pieces', async () => {
  const { now, read, reader, published } = daysOf();
  const sums = () => reader.overlay.get('days')?.get('');
  await read(() => {});
  const cell = sums();
  Object.assign(now, { stored: 'closed', remembered: 'closed' });
  published(new Map(), new Map());
  expect([reader.isSettled(false), sums()]).toEqual([true, cell]);
  expect([reader.isSettled(true), sums(), cell?.stamp]).toEqual([false, undefined, Number.NaN]);
});
