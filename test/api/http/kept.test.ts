import { expect, test } from 'vitest';
import { answerOf } from '../../../api/http/answers/answers.ts';
import { keptForm } from '../../../api/http/answers/forms.ts';
import { createSharedAnswers } from '../../../api/http/answers/shared-answers.ts';
import type { TaggedBytes } from '../../../api/http/answers/tagged-bytes.ts';
import type { RouteReply } from '../../../api/http/route.ts';
import type { Latest } from '../../../api/latest/latest.ts';

const LARGE = 40_000;
const SMALL = 1_000;

/** Answers made from a memory that never changes; counts how often each is made. */
function answers(took: number, mostInPieces?: number) {
  let now = 0;
  let made = 0;
  const latest: Pick<Latest, 'read' | 'readNow' | 'stillHolds'> = {
    read: () => Promise.reject(new Error('nothing is waited for')),
    readNow: (make) => {
      now += took;
      return {
        value: make(null as never),
        cells: [],
        stamps: [],
        madeAt: 0,
        until: Number.POSITIVE_INFINITY,
      };
    },
    stillHolds: () => true,
  };
  const shared = createSharedAnswers(latest, 1_000_000, () => now, mostInPieces);
  const ask = (at: number, bytes: number, rest?: TaggedBytes[]): number => {
    now = at;
    const reply = (): RouteReply => {
      made += 1;
      return { status: 200, body: Buffer.alloc(bytes, ' '), ...(rest === undefined ? {} : { rest }) };
    };
    expect(shared.ready(String(bytes), reply)?.bytes.length).toBe(bytes);
    return made;
  };
  return ask;
}

test('a large answer that is made at once is kept from when it is asked for twice in a fortieth of a second', () => {
  const ask = answers(0.3);
  expect(ask(0, LARGE)).toBe(1);
  expect(ask(200, LARGE)).toBe(2);
  expect(ask(220, LARGE)).toBe(3);
  expect(ask(221, LARGE)).toBe(3);
  expect(ask(9_000, LARGE)).toBe(3);
});

test('one that takes its time, and a small one, are kept at once', () => {
  const slow = answers(50);
  expect([slow(0, LARGE), slow(200, LARGE)]).toEqual([1, 1]);
  const quick = answers(0.3);
  expect([quick(0, SMALL), quick(200, SMALL)]).toEqual([1, 1]);
});

test('of answers that are next to nothing no more are kept than there is room for what each takes beside it', () => {
  const ask = answers(0.3);
  const each = Array.from({ length: 2_000 }, (_, length) => length + 1);
  for (const length of each) ask(0, length);
  const before = ask(0, 2_000);
  const kept = each.toReversed().findIndex((length) => ask(0, length) > before);
  // Three quarters of a million bytes.
  expect(kept).toBeGreaterThan(100);
  expect(kept).toBeLessThan(300);
});

test('answers in pieces are kept up to what their pieces are, and push out no other', () => {
  const ask = answers(0.3, 10_000_000);
  const piece = () => [{ bytes: Buffer.alloc(1_000_000), tag: 'x' }];
  expect(ask(0, 500)).toBe(1);
  const each = Array.from({ length: 100 }, (_, at) => 100 + at);
  for (const bytes of each) ask(0, bytes, piece());
  const before = ask(0, 500);
  expect(before).toBe(101);
  const kept = each.toReversed().findIndex((bytes) => ask(0, bytes, piece()) > before);
  expect(kept).toBeGreaterThan(5);
  expect(kept).toBeLessThan(11);
});

test('bytes that are kept are a piece of nothing that would be kept with them', () => {
  const answer = answerOf({ status: 200, body: { value: 'x'.repeat(1_000) } });
  const kept = keptForm(answer).bytes;
  expect([String(kept), kept.buffer.byteLength]).toEqual([String(answer.bytes), answer.bytes.length]);
});
