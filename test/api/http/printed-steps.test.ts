import { expect, test } from 'vitest';
import { answerOf } from '../../../api/http/answers/answers.ts';
import { wholeOf } from '../../../api/http/answers/forms.ts';
import { printedHead, printedItem } from '../../../api/http/answers/printed.ts';
import { printedSteps, stepsBetween } from '../../../api/http/answers/printed-steps.ts';
import { taggedBytes } from '../../../api/http/answers/tagged-bytes.ts';

const ITEMS = Array.from({ length: 5 }, (_, n) => ({ time: `${n} “é”`, list: [n, { n: null }] }));

/** The items from one index to another, out of two pieces, and one more item after them. */
function answered(from: number, to: number, last: object | null) {
  const cut = 3;
  const pieces = [ITEMS.slice(0, cut), ITEMS.slice(cut)].flatMap((items, at) => {
    const [begin, end] = [Math.max(0, from - at * cut), Math.min(items.length, to - at * cut)];
    const isEnd = last === null && to - at * cut <= items.length;
    return begin < end ? [stepsBetween(printedSteps(items), begin, end, isEnd)] : [];
  });
  const body = Buffer.from(`${printedHead({ from, to }, 'items')}[\n`);
  const end = taggedBytes(`${last === null ? '' : printedItem(last)}\n  ]\n}\n`);
  return answerOf({ status: 200, body, rest: [...pieces, end] });
}

test('any range of a list printed from pieces equals JSON.stringify and has an ETag of its own', () => {
  const tags = new Set<string>();
  let asked = 0;
  for (const last of [null, { time: 'now' }])
    for (let from = 0; from < ITEMS.length; from += 1)
      for (let to = from + 1; to <= ITEMS.length; to += 1) {
        const items = [...ITEMS.slice(from, to), ...(last === null ? [] : [last])];
        const answer = answered(from, to, last);
        expect(wholeOf(answer).toString()).toBe(`${JSON.stringify({ from, to, items }, null, 2)}\n`);
        expect(answered(from, to, last).etag).toBe(answer.etag);
        tags.add(answer.etag);
        asked += 1;
      }
  expect(tags.size).toBe(asked);
});
