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

test('a large answer that is quick to make is kept only once it is asked for twice within 25 ms', () => {
  const ask = answers(0.3);
  expect(ask(0, LARGE)).toBe(1);
  expect(ask(200, LARGE)).toBe(2);
  expect(ask(220, LARGE)).toBe(3);
  expect(ask(221, LARGE)).toBe(3);
  expect(ask(9_000, LARGE)).toBe(3);
});

test('an answer that is slow to make, or small, is kept from the first time on', () => {
  const slow = answers(50);
  expect([slow(0, LARGE), slow(200, LARGE)]).toEqual([1, 1]);
  const quick = answers(0.3);
  expect([quick(0, SMALL), quick(200, SMALL)]).toEqual([1, 1]);
});

test('the room for kept answers also counts what each takes beside its bytes: only some hundred tiny ones fit', () => {
  const ask = answers(0.3);
  const each = Array.from({ length: 2_000 }, (_, length) => length + 1);
  for (const length of each) ask(0, length);
  const before = ask(0, 2_000);
  const kept = each.toReversed().findIndex((length) => ask(0, length) > before);
  // They have three fifths of a million bytes, and each takes 2.4 kB beside its own.
  expect(kept).toBeGreaterThan(100);
  expect(kept).toBeLessThan(300);
});

test('kept answers in pieces are bounded by the bytes of their pieces, and evict no other answer', () => {
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

test('the bytes of a kept answer have a buffer of their own, so that no larger one stays in memory', () => {
  const answer = answerOf({ status: 200, body: { value: 'x'.repeat(1_000) } });
  const kept = keptForm(answer).bytes;
  expect([String(kept), kept.buffer.byteLength]).toEqual([String(answer.bytes), answer.bytes.length]);
});
