import { expect, test } from 'vitest';
import { holds } from '../../../api/latest/memos/memo.ts';
import { createRowParts, type RowWithPart } from '../../../api/latest/memos/row-parts.ts';
import { createRandom } from '../../support/random.ts';

const SEED = 20_261_124;
/** Bytes of a part beside its text. */
const OVERHEAD = 220;

const row = (): RowWithPart => ({ stamp: 0, until: Number.POSITIVE_INFINITY, usedAt: 0, part: null });
const part = (length: number) => ({ value: { length }, around: {}, stamp: 0, more: null });

test('a row keeps its newest part', () => {
  const parts = createRowParts(10_000);
  const [one, other] = [row(), row()];
  const [before, now] = [part(10), part(20)];
  parts.set(one, before);
  parts.set(one, now);
  expect(parts.get(one)).toMatchObject(now);
  expect(parts.get(other)).toBeNull();
});

test('parts that nobody asks for are dropped, one at a time', () => {
  const parts = createRowParts(4 * (OVERHEAD + 100));
  const rows = Array.from({ length: 4 }, row);
  for (const one of rows) parts.set(one, part(100));
  // All were used, so each is passed over once, and then the first is dropped.
  parts.set(row(), part(100));
  expect(rows.map(({ part: kept }) => kept !== null)).toEqual([false, true, true, true]);
  for (const one of rows.slice(1)) parts.get(one);
  const asked = rows.slice(1);
  for (let turn = 0; turn < 20; turn += 1) {
    for (const one of asked) parts.get(one);
    parts.set(row(), part(100));
  }
  expect(asked.every(({ part: kept }) => kept !== null)).toBe(true);
});

test(`parts never take more than the bound, however they are set and read (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  const most = 20_000;
  const parts = createRowParts(most);
  const rows = Array.from({ length: 200 }, row);
  const bytesOf = ({ part: kept }: RowWithPart) => (kept === null ? 0 : kept.value.length + OVERHEAD);
  for (let turn = 0; turn < 5_000; turn += 1) {
    const one = rows[Math.floor(random() * rows.length)] as RowWithPart;
    if (random() < 0.5) parts.get(one);
    else parts.set(one, part(Math.floor(random() ** 4 * 3_000)));
    expect(rows.reduce((sum, each) => sum + bytesOf(each), 0)).toBeLessThanOrEqual(most);
  }
  expect(rows.filter(({ part: kept }) => kept !== null).length).toBeGreaterThan(10);
});

test('a value holds from the time it was made until it expires, not if the clock is put back to before it was made', () => {
  const made = { value: 1, cells: [], stamps: [], madeAt: 1_000, until: 2_000 };
  expect([999, 1_000, 1_999, 2_000].map((now) => holds(made, now, 0))).toEqual([false, true, true, false]);
});
