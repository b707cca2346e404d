import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEventWindow, missedSince } from '../../../api/stream/event-window.ts';
import { type ChainPosition, positionText, readPosition } from '../../../api/stream/position.ts';
import type { EventIdentity } from '../../../clickhouse/queries/activity/stream-events.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);

const NOTHING = { closedGaps: 0, late: 0 };

const event = (slot: number, order: number): EventIdentity => ({
  slot: String(slot),
  signature: `s${slot}.${String(order).padStart(4, '0')}`,
  position: 0,
  mint: 'm',
});
const byChain = (a: EventIdentity, b: EventIdentity) =>
  Number(a.slot) - Number(b.slot) || (a.signature < b.signature ? -1 : 1);

test('an id is parsed to the position it was made of, and anything else to null', () => {
  const chain = { slot: 2n ** 63n - 1n, ordinal: 3, recent: 7, derived: 0, closedGaps: 1, late: 0 };
  for (const position of [
    { chain },
    { post: { id: 9n, recent: 2 } },
    { chain, post: { id: 1n, recent: 1, made: 7 } },
  ])
    expect(readPosition(positionText(position))).toEqual(position);
  const late = { ...chain, late: 2 };
  expect(readPosition(positionText({ chain: late }))).toEqual({ chain: late });
  for (const derived of [
    { ...chain, derived: 4 },
    { ...late, derived: 4 },
  ])
    expect(readPosition(positionText({ chain: derived }))).toEqual({ chain: derived });
  // A position of a version that did not count late events.
  expect(readPosition('e1.2.3.4')?.chain).toEqual({
    ...{ slot: 1n, ordinal: 2, recent: 3, derived: 0, closedGaps: 4, late: 0 },
  });
  for (const text of [
    'x',
    'e1.2.3',
    'e1.2.3.4.5.6.7',
    'p1.2-',
    'p1.2.',
    'p1.2.3.4',
    '-',
    'e-1.2.3.4',
    `e${'9'.repeat(30)}.1.1.1`,
  ])
    expect(readPosition(text), text).toBeNull();
});

describe('the event window over the last slots', () => {
  test('reports each event once, in the order of the chain, however the slots are divided into steps', () => {
    const slots = fc.array(fc.record({ events: fc.integer({ min: 0, max: 3 }), step: fc.boolean() }), {
      maxLength: 150,
    });
    fc.assert(
      fc.property(slots, (drawn) => {
        let window = createEventWindow(0n, NOTHING, []);
        const all: EventIdentity[] = [];
        const told: string[] = [];
        let last: ChainPosition = window.tip();
        drawn.forEach(({ events, step }, at) => {
          for (let order = 0; order < events; order += 1) all.push(event(at + 1, order));
          if (!step) return;
          const read = all.filter((row) => BigInt(row.slot) > window.readFrom());
          const moved = window.movedTo(BigInt(at + 1), NOTHING, read);
          window = moved.window;
          for (const { identity, position } of moved.fresh) {
            told.push(identity);
            expect(
              [position.slot, position.ordinal] > [last.slot, last.ordinal] || position.slot > last.slot,
            ).toBe(true);
            last = position;
          }
        });
        const until = window.tip().slot;
        expect(told).toEqual(
          all.filter((row) => BigInt(row.slot) <= until).map((row) => `${row.signature}.0`),
        );
      }),
      { seed: SEED },
    );
  });

  test('reports events that come late, in slots reported before, ahead of new ones', () => {
    const before = createEventWindow(10n, NOTHING, [event(9, 1), event(10, 1)]);
    const rows = [event(9, 1), event(9, 2), event(10, 0), event(10, 1), event(11, 0)].toSorted(byChain);
    const { window, fresh } = before.movedTo(11n, { closedGaps: 1, late: 1 }, rows);
    expect(fresh.map(({ identity, position }) => [identity, position])).toEqual([
      // A client that has only the first keeps the counts from before, so it is sent a gap when it comes back.
      ['s9.0002.0', { slot: 10n, ordinal: 1, recent: 2, derived: 0, closedGaps: 0, late: 0 }],
      ['s10.0000.0', { slot: 10n, ordinal: 2, recent: 4, derived: 0, closedGaps: 0, late: 0 }],
      // Nor was it told that a gap was closed.
      ['s11.0000.0', { slot: 11n, ordinal: 1, recent: 5, derived: 0, closedGaps: 0, late: 0 }],
    ]);
    expect(window.tip()).toEqual({ slot: 11n, ordinal: 1, recent: 5, derived: 0, closedGaps: 1, late: 1 });
  });

  test('gives a client cut off at any point all that it missed when it returns, or a gap', () => {
    const one = fc.record({ isLate: fc.boolean(), back: fc.nat({ max: 8 }), order: fc.nat({ max: 9 }) });
    const looks = fc.array(fc.array(one, { maxLength: 5 }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(looks, fc.array(fc.boolean()), (drawn, closes) => {
        let window = createEventWindow(100n, NOTHING, []);
        let all: EventIdentity[] = [];
        let closed = 0;
        const told: { identity: string; position: ChainPosition; of: number }[] = [];
        const cut = (upTo: number, of: number) => {
          const since = told[upTo]?.position ?? {
            slot: 100n,
            ordinal: 0,
            recent: 0,
            derived: 0,
            closedGaps: 0,
            late: 0,
          };
          const until = window.tip();
          const missed = since.closedGaps === until.closedGaps ? missedSince(since, until, all) : null;
          const had = told.slice(0, upTo + 1).map(({ identity }) => identity);
          if (missed === null) return;
          const has = new Set([...had, ...missed.map(({ identity }) => identity)]);
          expect(all.map((row) => `${row.signature}.0`).filter((row) => !has.has(row))).toEqual([]);
          // Nothing twice, where the last look was sent completely.
          if (told[upTo + 1]?.of !== of) expect(has.size).toBe(had.length + missed.length);
        };
        drawn.forEach((events, look) => {
          const slot = 101 + look;
          const more = events.map(({ isLate, back, order }) => event(isLate ? slot - 1 - back : slot, order));
          const known = new Set(all.map(({ signature }) => signature));
          all = [
            ...all,
            ...new Map(
              more.filter(({ signature }) => !known.has(signature)).map((row) => [row.signature, row]),
            ).values(),
          ].toSorted(byChain);
          closed += closes[look] === true ? 1 : 0;
          const { window: moved, fresh } = window.movedTo(BigInt(slot), { closedGaps: closed, late: 0 }, all);
          window = moved;
          told.push(...fresh.map((each) => ({ ...each, of: look })));
          for (let upTo = -1; upTo < told.length; upTo += 1) cut(upTo, look);
        });
        // A client that was sent everything goes on without a gap, where no gap was closed.
        const last = told.at(-1);
        if (last !== undefined && last.position.closedGaps === closed)
          expect(missedSince(last.position, window.tip(), all)).toEqual([]);
      }),
      { seed: SEED },
    );
  });
});

test('2,000 new events are put in order with fewer than ten looks at each on average', () => {
  let looked = 0;
  const rows = Array.from({ length: 2_000 }, (_, n) => {
    const row = event(1_000 + Math.floor(n / 10), n);
    return Object.defineProperty({ ...row }, 'slot', {
      get: () => {
        looked += 1;
        return row.slot;
      },
    });
  });
  const { fresh: told } = createEventWindow(900n, NOTHING, []).movedTo(1_200n, NOTHING, rows);
  expect(told).toHaveLength(2_000);
  expect(told.at(-1)?.position).toEqual({
    slot: 1_199n,
    ordinal: 10,
    recent: 640,
    derived: 0,
    closedGaps: 0,
    late: 0,
  });
  expect(looked).toBeLessThan(10 * rows.length);
});
