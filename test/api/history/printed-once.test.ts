import { expect, test } from 'vitest';
import { protocolHistory } from '../../../api/history/protocol/protocol.ts';
import { createCells } from '../../../api/latest/cells/cells.ts';
import { withText } from '../../../api/latest/cells/texts.ts';
import { KINDS, type KindName } from '../../../api/latest/kinds/kinds.ts';
import { type AnswerParts, createAnswerParts } from '../../../api/latest/memos/answer-parts.ts';
import { createRowParts } from '../../../api/latest/memos/row-parts.ts';
import { createTimeSlices } from '../../../api/latest/time-slices.ts';
import { openView } from '../../../api/latest/view.ts';

const NOW_H = 500_000;
const STEPS = 200;
const begunOf = (assets: number) =>
  Array.from({ length: assets }, (_, n) => ({
    quote_mint: `q${n}`,
    begun: [{ hour: NOW_H - 2 * STEPS, total: 5, which: 'these' }],
  }));
const begun = begunOf(1);
const now = new Date(NOW_H * 3_600_000).toISOString();
const state = {
  ...{ applied: { slot: '1' }, markerTime: now, followedTime: now },
  ...{
    gaps: [],
    openGaps: [],
    incomplete: { count: 0, policies: [], days: [], undated: [], undatedEvents: [] },
    isSettled: true,
    historyReason: null,
  },
};
const cellOf = (value: unknown) => ({ value, stamp: 1, until: Number.POSITIVE_INFINITY, usedAt: 0 });

/**
 * Histories of STEPS hours, made from a memory whose cells can be dropped; counts the pieces made for each answer, and
 * the values that the pieces name.
 */
function histories(policies = begun) {
  const cells = createCells(64e6);
  const kept = createAnswerParts(64e6);
  let made = 0;
  let named = 0;
  const parts: AnswerParts = {
    get: kept.get,
    set: (name, one) => {
      if (name.startsWith('history')) made += 1;
      kept.set(name, one);
    },
  };
  const cell = cellOf(state);
  const memory = {
    ...{ itself: cellOf(null), cells, parts, rowParts: createRowParts(1e6), ranked: {}, clock: 0 },
    state: { progress: cell, missing: cell, ranked: cellOf(null) },
  };
  const known: Partial<Record<KindName, unknown>> = {
    protocolBegun: policies,
    protocolHistory: { steps: [], cover: { hours: [], holes: [] } },
  };
  const range = {
    ...{ from: (NOW_H - STEPS) * 3600, to: NOW_H * 3600, step: 'hour', unfinished: false },
    ends: Array.from({ length: STEPS }, (_, at) => (NOW_H - STEPS + 1 + at) * 3600),
  };
  const ask = (ownBegun: unknown = null): number => {
    const slices = createTimeSlices(() => 0);
    const own = new Map(ownBegun === null ? [] : [['protocolBegun', new Map([['', cellOf(ownBegun)]])]]);
    made = 0;
    for (;;) {
      slices.begin();
      const reading = openView(memory as never, NOW_H * 3_600_000, own as never, slices);
      protocolHistory(reading.view, { launchpadVenueId: null } as never, range as never);
      for (const [kind, keys] of reading.lacks)
        for (const key of keys) {
          const value = known[kind] ?? KINDS[kind].none;
          cells.set(kind, key, withText({ value, until: Number.POSITIVE_INFINITY }) as never, 0);
        }
      named = reading.toMemo(null).cells.length;
      if (reading.lacks.size === 0 && !reading.isUnfinished()) return made;
    }
  };
  return { ask, drop: () => cells.drop('protocolBegun', ''), named: () => named };
}

test('with more quote assets each printed piece covers fewer steps', () => {
  const [few, many] = [histories(begunOf(10)).ask(), histories(begunOf(120)).ask()];
  expect(few).toBeLessThan(STEPS / 10);
  expect(many).toBeGreaterThanOrEqual(STEPS / 2);
});

test('an answer names fewer than ten inputs per printed piece, with 50 quote assets and with 200', () => {
  for (const assets of [50, 200]) {
    const many = histories(begunOf(assets));
    expect(many.named()).toBe(0);
    const pieces = many.ask();
    expect(pieces).toBeGreaterThan(STEPS / 10);
    expect(many.named() / pieces, `${assets}`).toBeLessThan(10);
  }
});

test('the printed text of passed hours is reused after writes to policies, unless others had begun by then', () => {
  const { ask, drop } = histories();
  expect(ask()).toBeGreaterThan(5);
  expect(ask()).toBe(0);
  // Cells are dropped by every write to a policy.
  drop();
  expect(ask()).toBe(0);
  drop();
  // With policies loaded for this reader alone, as during a write: nothing of this reading is kept for others.
  expect(ask(begun)).toBe(0);
  const others = [{ ...begun[0], begun: [{ hour: NOW_H - 2 * STEPS, total: 5, which: 'others' }] }];
  expect(ask(others)).toBeGreaterThan(5);
});
