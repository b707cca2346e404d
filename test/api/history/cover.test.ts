import { describe, expect, test } from 'vitest';
import { createCover } from '../../../api/history/cover.ts';
import type { CarriedRow, HoleRow } from '../../../clickhouse/hour-tables.ts';
import type { UnseenChange } from '../../../clickhouse/queries/history/closing-states.ts';

/** Hour 10 begins in slot 100, 11 in 200, and so on. */
const HOURS = [10, 11, 12, 13, 14, 15].map((hour) => ({ hour, slot: String((hour - 9) * 100) }));
const hole = (after: number, to: number): HoleRow => ({ after_slot: String(after), to_slot: String(to) });
const change = (
  after: number,
  to: number,
  streamed: number[] = [],
  brought: number[] = [],
): UnseenChange => ({
  ...{
    address: 'a',
    after_slot: String(after),
    to_slot: String(to),
    streamed: streamed.map(String),
    brought: brought.map(String),
  },
});
const state = (hour: number, seen: number) => ({ address: 'a', hour, seen: String(seen) });

/** The ends at which a state seen in that slot is known; an end is the hour that begins there. */
function known(holes: HoleRow[], unseen: UnseenChange[], seen: number, carried: CarriedRow[] = []): number[] {
  const { lost } = createCover({ hours: HOURS, holes }, unseen, carried);
  const hour = 9 + Math.floor(seen / 100);
  return [11, 12, 13, 14, 15].filter((end) => end > hour && lost(state(hour, seen), end) === null);
}

test('a state is known at every later end while every slot since was streamed', () => {
  expect(known([], [], 150)).toEqual([11, 12, 13, 14, 15]);
  expect(known([hole(0, 90)], [], 150)).toEqual([11, 12, 13, 14, 15]);
});

test('no state is known at an hour that the stream has not reached', () => {
  const { lost, begins } = createCover({ hours: HOURS, holes: [] }, [], []);
  expect([begins(10), begins(15), begins(16)]).toEqual([100n, 600n, null]);
  expect(lost(state(10, 150), 16)).toContain('has not come');
});

describe('a hole in the streamed slots', () => {
  test('ends what is known of a state from before it', () => {
    expect(known([hole(250, 370)], [], 150)).toEqual([11]);
    expect(known([hole(250, 270)], [], 150)).toEqual([11]);
  });

  test('a hole that begins with an hour leaves the state known at the beginning of that hour', () => {
    // Slot 300 is the first of hour 12: up to 299 everything came.
    expect(known([hole(299, 350)], [], 150)).toEqual([11, 12]);
  });

  test('does not affect a state seen in its last slot or later, unlike one seen inside it', () => {
    expect(known([hole(250, 270)], [], 270)).toEqual([12, 13, 14, 15]);
    expect(known([hole(250, 270)], [], 280)).toEqual([12, 13, 14, 15]);
    expect(known([hole(250, 270)], [], 260)).toEqual([]);
  });
});

describe('an unseen change, found by a reading over RPC', () => {
  test('the earlier state is unknown from the next end on, and the state read is known', () => {
    expect(known([], [change(150, 350)], 150)).toEqual([]);
    expect(known([], [change(150, 350)], 350)).toEqual([13, 14, 15]);
  });

  test('the earlier state is known up to a hole in between, which may explain the change', () => {
    expect(known([hole(320, 340)], [change(150, 350)], 150)).toEqual([11, 12]);
  });

  test('the earlier state is known up to a newer one that the stream brought in between', () => {
    expect(known([], [change(150, 350, [330])], 150).slice(0, 2)).toEqual([11, 12]);
  });

  test('the new state is known from its own slot on if the stream brings it later', () => {
    const found = change(150, 450, [320], [320]);
    expect(known([], [found], 320)).toEqual([13, 14, 15]);
    expect(known([], [found], 330)).toEqual([]);
    expect(known([], [found], 150).slice(0, 2)).toEqual([11, 12]);
  });

  test('a change missed in an hour’s last slot is not explained by anything in the next slot', () => {
    const leftOut = change(298, 300);
    expect(known([], [leftOut], 150)).toEqual([11]);
    expect(known([], [{ ...leftOut, streamed: ['300'] }], 150)).toEqual([11]);
    expect(known([hole(299, 300)], [leftOut], 150)).toEqual([11]);
    expect(known([], [leftOut], 150, [lostBehind(299), carriedFrom(301)])).toEqual([11]);
    expect(known([], [{ ...leftOut, streamed: ['300'] }], 300)).toEqual([13, 14, 15]);
  });

  test('does not affect another account', () => {
    expect(known([], [{ ...change(150, 350), address: 'b' }], 150)).toEqual([11, 12, 13, 14, 15]);
  });

  test('a state in a slot without a time, stored as such a change, makes only older states unknown, at later ends', () => {
    const undated = change(229, 230);
    expect(known([], [undated], 150)).toEqual([11]);
    expect(known([], [undated], 229)).toEqual([]);
    expect(known([], [undated], 230)).toEqual([12, 13, 14, 15]);
  });
});

const lostBehind = (slot: number): CarriedRow => ({ address: 'a', slot: String(slot), carried: 0 });
const carriedFrom = (slot: number): CarriedRow => ({ address: 'a', slot: String(slot), carried: 1 });

describe('an account that no stream carries for a while', () => {
  const away = [lostBehind(250), carriedFrom(370)];

  test('is known until it is lost, and again from a state read in the slot from which it is carried', () => {
    expect(known([], [], 150, away)).toEqual([11]);
    expect(known([], [], 369, away)).toEqual([]);
    expect(known([], [], 370, away)).toEqual([13, 14, 15]);
  });

  test('is known at an hour’s beginning if it was read in the slot just before, and at no other', () => {
    expect(known([], [], 299, away)).toEqual([12]);
    expect(known([], [], 298, away)).toEqual([]);
    expect(known([], [], 299, [lostBehind(299)])).toEqual([12]);
  });

  test('stays unknown if no stream carries it again, with the reason', () => {
    expect(known([], [], 150, [lostBehind(250)])).toEqual([11]);
    expect(known([], [], 480, [lostBehind(250)])).toEqual([]);
    const { lost } = createCover({ hours: HOURS, holes: [] }, [], [lostBehind(250)]);
    expect(lost(state(10, 150), 15)).toBe(
      'slots 251 to 599 were not streamed: what a was there is not known',
    );
    expect(lost(state(10, 280), 13)).toContain('slots 281 to 399 ');
  });

  test('is lost again if it was carried only for a moment, in whatever order the rows come', () => {
    const told = [lostBehind(120), carriedFrom(170), lostBehind(170), lostBehind(190), carriedFrom(420)];
    for (const rows of [told, told.toReversed()]) {
      expect(known([], [], 110, rows)).toEqual([]);
      expect(known([], [], 180, rows)).toEqual([]);
      expect(known([], [], 430, rows)).toEqual([14, 15]);
    }
  });

  test('is known up to the slot where it was lost, if an unseen change was found afterwards', () => {
    expect(known([], [change(150, 350)], 150, [lostBehind(299)])).toEqual([11, 12]);
    expect(known([hole(299, 320)], [change(150, 350)], 150)).toEqual([11, 12]);
    expect(known([], [change(150, 350)], 150, [lostBehind(320)])).toEqual([11, 12]);
    expect(known([], [change(150, 350)], 150, [lostBehind(350)])).toEqual([]);
  });

  test('does not affect another account', () => {
    expect(known([], [], 150, [{ ...lostBehind(250), address: 'b' }])).toEqual([11, 12, 13, 14, 15]);
  });
});
