import { expect, test } from 'vitest';
import { attempt } from '../../../api/latest/attempt.ts';
import { createCells } from '../../../api/latest/cells/cells.ts';
import { withText } from '../../../api/latest/cells/texts.ts';
import { createAnswerParts } from '../../../api/latest/memos/answer-parts.ts';
import { createRowParts } from '../../../api/latest/memos/row-parts.ts';
import { createTimeSlices } from '../../../api/latest/time-slices.ts';
import { openView } from '../../../api/latest/view.ts';

const FOR_EVER = Number.POSITIVE_INFINITY;

/** An answer of ten parts, each of which takes 5 ms to make. */
function longAnswer({ partsBytes = 1_000_000 } = {}) {
  let now = 0;
  let made = 0;
  const cells = createCells(1_000_000);
  cells.set('prices', 'q', withText({ value: [], until: FOR_EVER }), 0);
  const parts = createAnswerParts(partsBytes);
  const itself = { stamp: 0, until: FOR_EVER, usedAt: 0 };
  const states = { itself, state: null as never, ranked: null as never };
  const memory = { cells, parts, rowParts: createRowParts(1_000), ...states, clock: 0 };
  const slices = createTimeSlices(() => now);
  /** Milliseconds that it kept the thread. */
  const turn = () => {
    const begunAt = now;
    slices.begin();
    const reading = openView(memory, 0, new Map(), slices);
    const answer = attempt(
      () =>
        Array.from({ length: 10 }, (_, n) =>
          reading.view.longPart(`part ${n}`, -1, () => {
            reading.view.get('prices', 'q');
            now += 5;
            made += 1;
            return n;
          }),
        ),
      reading,
    );
    return { answer, kept: now - begunAt, lacks: reading.lacks.size, unfinished: reading.isUnfinished() };
  };
  return { turn, cells, made: () => made };
}

const ALL = Array.from({ length: 10 }, (_, n) => n);

test.each([
  ['kept with all that others have', 1_000_000],
  ['of which nothing else is kept', 1],
])('what takes long is made a piece at a time, %s: others have their turn between them', (_, partsBytes) => {
  const { turn, made } = longAnswer({ partsBytes });
  const turns = Array.from({ length: 5 }, turn);
  expect(turns.map(({ kept }) => kept)).toEqual([10, 10, 10, 10, 10]);
  expect(turns.map(({ answer }) => answer?.value ?? null)).toEqual([null, null, null, null, ALL]);
  expect(made()).toBe(10);
});

test('a part whose inputs changed meanwhile is made again, and one more with each turn: it ends where they change for ever', () => {
  const { turn, cells } = longAnswer();
  const kept: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    cells.set('prices', 'q', withText({ value: [n], until: FOR_EVER }), 0);
    const { answer, kept: ms } = turn();
    expect(answer).toBeNull();
    kept.push(ms);
  }
  expect(kept).toEqual([10, 15, 20, 25, 30, 35, 40, 45]);
  expect(turn()).toMatchObject({ answer: { value: ALL } });
});

test('what could not be begun because something lacked is made piece by piece all the same', () => {
  const { turn, cells } = longAnswer();
  cells.drop('prices', 'q');
  expect(turn()).toMatchObject({ answer: null, lacks: 1 });
  cells.set('prices', 'q', withText({ value: [], until: FOR_EVER }), 0);
  expect(turn()).toMatchObject({ answer: null, kept: 10 });
});

test('of what lacks something nothing is made that would be made again', () => {
  const { turn, cells, made } = longAnswer();
  cells.drop('prices', 'q');
  expect(turn()).toMatchObject({ answer: null, lacks: 1, unfinished: false });
  expect(made()).toBe(1);
});
