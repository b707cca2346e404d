import { expect, test } from 'vitest';
import { attempt } from '../../../api/latest/attempt.ts';
import { createCells } from '../../../api/latest/cells/cells.ts';
import { withText } from '../../../api/latest/cells/texts.ts';
import { createAnswerParts } from '../../../api/latest/memos/answer-parts.ts';
import { createRowParts } from '../../../api/latest/memos/row-parts.ts';
import { createTimeSlices } from '../../../api/latest/time-slices.ts';
import { type Overlay, openView } from '../../../api/latest/view.ts';

const FOR_EVER = Number.POSITIVE_INFINITY;

const cellOf = (value: unknown) => ({ value, stamp: 0, until: FOR_EVER, usedAt: 0 });

/** An answer of ten parts, each of which takes 5 ms. @param isOwn whether its input was loaded for it alone */
function longAnswer({ partsBytes = 1_000_000, isOwn = false } = {}) {
  let now = 0;
  let made = 0;
  const cells = createCells(1_000_000);
  const overlay: Overlay = new Map();
  if (isOwn) overlay.set('prices', new Map([['q', cellOf([])]]));
  else cells.set('prices', 'q', withText({ value: [], until: FOR_EVER }), 0);
  const parts = createAnswerParts(partsBytes);
  const itself = { stamp: 0, until: FOR_EVER, usedAt: 0 };
  const states = { itself, state: null as never, ranked: null as never };
  const memory = { cells, parts, rowParts: createRowParts(1_000), ...states, clock: 0 };
  const slices = createTimeSlices(() => now);
  /** Milliseconds for which it kept the thread. */
  const turn = () => {
    const begunAt = now;
    slices.begin();
    const reading = openView(memory, 0, overlay, slices);
    const answer = attempt(
      () =>
        Array.from({ length: 10 }, (_, n) =>
          reading.view.longPart(`part ${n}`, -1, () => {
            const prices = reading.view.get('prices', 'q');
            now += 5;
            made += 1;
            return n + prices.length;
          }),
        ),
      reading,
    );
    const isShared = reading.toMemo(null).until > 0;
    return {
      ...{ answer, kept: now - begunAt, isShared },
      ...{ lacks: reading.lacks.size, unfinished: reading.isUnfinished() },
    };
  };
  return { turn, cells, overlay, parts, made: () => made };
}

const ALL = Array.from({ length: 10 }, (_, n) => n);

test.each([
  ['whose parts fit into the cache of parts', {}],
  ['whose parts do not fit into the cache of parts', { partsBytes: 1 }],
  ['made of values that memory does not hold', { isOwn: true }],
])('a long answer %s is made in time slices', (_, options) => {
  const { turn, made } = longAnswer(options);
  const turns = Array.from({ length: 5 }, turn);
  expect(turns.map(({ kept }) => kept)).toEqual([10, 10, 10, 10, 10]);
  expect(turns.map(({ answer }) => answer?.value ?? null)).toEqual([null, null, null, null, ALL]);
  expect(made()).toBe(10);
});

test('parts whose inputs changed meanwhile are made again in time slices, too', () => {
  const { turn, cells, made } = longAnswer();
  for (let n = 0; n < 3; n += 1) turn();
  cells.set('prices', 'q', withText({ value: ['changed'], until: FOR_EVER }), 0);
  const turns = Array.from({ length: 5 }, turn);
  expect(turns.map(({ kept }) => kept)).toEqual([10, 10, 10, 10, 10]);
  expect(turns.at(-1)?.answer?.value).toEqual(ALL.map((n) => n + 1));
  expect(made()).toBe(16);
});

test('an answer made of what one reader has loaded is not shared, and leaves no parts in memory', () => {
  const { turn, parts } = longAnswer({ isOwn: true });
  const turns = Array.from({ length: 5 }, turn);
  expect(turns.at(-1)?.answer?.value).toEqual(ALL);
  expect(turns.map(({ isShared }) => isShared)).toEqual([false, false, false, false, false]);
  expect(ALL.map((n) => parts.get(`part ${n}`))).toEqual(ALL.map(() => undefined));
});

test('a long answer never mixes parts made of a reader’s own inputs with parts made of newer ones in memory', () => {
  const { turn, cells } = longAnswer({ isOwn: true });
  const newer = () => cells.set('prices', 'q', withText({ value: ['newer'], until: FOR_EVER }), 0);
  const answers = (turns: number) => Array.from({ length: turns }, turn).map((one) => one.answer?.value);
  expect(answers(3)).toEqual([undefined, undefined, undefined]);
  newer();
  expect(answers(1)).toEqual([undefined]);
  cells.drop('prices', 'q');
  expect(answers(5).at(-1)).toEqual(ALL);
  newer();
  expect(answers(5).at(-1)).toEqual(ALL.map((n) => n + 1));
  expect(turn().isShared).toBe(true);
});

test('if inputs keep changing, each turn makes one part more than the last, so that the answer is completed', () => {
  const { turn, cells } = longAnswer();
  const kept: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    cells.set('prices', 'q', withText({ value: [n], until: FOR_EVER }), 0);
    const { answer, kept: ms } = turn();
    expect(answer).toBeNull();
    kept.push(ms);
  }
  expect(kept).toEqual([10, 10, 15, 20, 25, 30, 35, 40]);
  expect(turn()).toMatchObject({ answer: { value: ALL.map((n) => n + 1) } });
});

test('an answer that first lacked an input is still made in time slices once the input is there', () => {
  const { turn, cells } = longAnswer();
  cells.drop('prices', 'q');
  expect(turn()).toMatchObject({ answer: null, lacks: 1 });
  cells.set('prices', 'q', withText({ value: [], until: FOR_EVER }), 0);
  expect(turn()).toMatchObject({ answer: null, kept: 10 });
});

test('an answer that lacks an input makes no further parts in that turn', () => {
  const { turn, cells, made } = longAnswer();
  cells.drop('prices', 'q');
  expect(turn()).toMatchObject({ answer: null, lacks: 1, unfinished: false });
  expect(made()).toBe(1);
});
