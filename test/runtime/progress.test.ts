import { expect, test } from 'vitest';
import {
  barLine,
  createProgress,
  type ProgressState,
  plainLine,
  spanText,
} from '../../runtime/process/progress.ts';

const HALF: ProgressState = {
  what: 'backfill',
  unit: 'slots',
  done: 1_500,
  total: 3_000,
  rate: 100,
  note: '12 transactions',
};

function screen(isTTY: boolean, columns = 200) {
  const written: string[] = [];
  let now = 0;
  const progress = createProgress({
    what: 'replay',
    unit: 'records',
    out: { isTTY, columns, write: (text) => written.push(text) },
    clock: () => now,
  });
  return { progress, written, pass: (millis: number) => (now += millis) };
}

test('a plain line tells share, count, rate, time left and the note', () => {
  expect(plainLine(HALF)).toBe('backfill 50 %, 1,500 of 3,000 slots, 100/s, 15 s left, 12 transactions');
});

test('with an unknown total neither share nor time left is shown', () => {
  expect(plainLine({ ...HALF, total: null, note: '' })).toBe('backfill 1,500 slots, 100/s');
});

test('a total of zero shows as 100 %', () => {
  expect(plainLine({ ...HALF, done: 0, total: 0, rate: null, note: '' })).toBe(
    'backfill 100 %, 0 of 0 slots',
  );
});

test('a bar fits into one line of the terminal', () => {
  expect(barLine(HALF, 200)).toContain('[============            ] 50 %');
  expect(barLine(HALF, 40)).toHaveLength(39);
});

test('a time span is shown in its two largest units', () => {
  expect([7.2, 185, 7_800, 360_000].map(spanText)).toEqual(['8 s', '3 min 05 s', '2 h 10 min', '4 d 4 h']);
});

test('a terminal gets one line that is overwritten, other outputs get lines seconds apart', () => {
  for (const isTTY of [true, false]) {
    const { progress, written, pass } = screen(isTTY);
    for (let done = 0; done <= 40; done += 1) {
      progress.update(done, 100);
      pass(50);
    }
    progress.end();
    expect(written.length).toBe(isTTY ? 22 : 2);
    expect(
      written.every((text) => (isTTY ? text.startsWith('\r') || text === '\n' : text.endsWith('\n'))),
    ).toBe(true);
    expect(written.join('')).toContain('40 of 100 records, 20/s');
  }
});

test('what an earlier run did does not count in the rate', () => {
  const { progress, written, pass } = screen(false);
  progress.update(1_000_000, 1_000_100);
  pass(1_000);
  progress.update(1_000_010);
  progress.end();
  expect(written.at(-1)).toContain('10/s, 9 s left');
});

test('more done than the initial total raises the total instead of passing 100 %', () => {
  const { progress, written } = screen(false);
  progress.update(350, 352);
  progress.update(356);
  progress.end();
  expect(written.at(-1)).toContain('100 %, 356 of 356 records');
});

test('work that never began shows nothing', () => {
  const { progress, written } = screen(true);
  progress.end();
  expect(written).toEqual([]);
});
