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
  const states = { state: null as never, ranked: null as never };
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

test('a part whose inputs changed meanwhile is made again; where they change with each turn all is made at once', () => {
  const { turn, cells } = longAnswer();
  const change = (n: number) => cells.set('prices', 'q', withText({ value: [n], until: FOR_EVER }), 0);
  turn();
  change(1);
  // Nothing of the first turn holds, and nothing more came of the second.
  expect(turn().answer).toBeNull();
  change(2);
  expect(turn()).toMatchObject({ answer: { value: ALL }, kept: 50 });
});

test('of what lacks something nothing is made that would be made again', () => {
  const { turn, cells, made } = longAnswer();
  cells.drop('prices', 'q');
  expect(turn()).toMatchObject({ answer: null, lacks: 1, unfinished: false });
  expect(made()).toBe(1);
});
