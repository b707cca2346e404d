import { expect, test } from 'vitest';
import { BusyError } from '../../../api/http/lines.ts';
import { createTurns } from '../../../api/http/turns.ts';

/** A thread by hand: work takes as long as it says, and what is put off is done when it is told to. */
function thread() {
  let now = 0;
  const put: { call(): void; ms: number }[] = [];
  const begun: string[] = [];
  const turns = createTurns({
    now: () => now,
    later: (call) => void put.push({ call, ms: 0 }),
    after: (call, ms) => void put.push({ call, ms }),
  });
  const ask = (address: string, name: string, ms: number, bytes = 0) =>
    turns(address, async () => {
      begun.push(name);
      now += ms;
      return bytes;
    });
  /** Does what was put off first; how long it was to be put off. */
  const goOn = () => {
    const first = put.shift();
    first?.call();
    return first?.ms;
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { ask, goOn, pass, begun, put };
}

test('who has had a tenth of the thread waits behind whoever has had little', async () => {
  const { ask, goOn, begun, put } = thread();
  await ask('honest', 'first', 1);
  await ask('flood', 'stranger', 1);
  await ask('flood', 'much', 200);
  const flood = Array.from({ length: 4 }, (_, n) => ask('flood', `f${n}`, 1));
  await ask('honest', 'h0', 1);
  expect(begun.splice(0)).toEqual(['first', 'stranger', 'much', 'h0']);
  expect(goOn()).toBe(0);
  expect(begun.splice(0)).toEqual(['f0', 'f1']);
  await ask('honest', 'h1', 1);
  // A modest one is about: the others have half of the time.
  expect(goOn()).toBe(2);
  expect(begun.splice(0)).toEqual(['h1', 'f2', 'f3']);
  await Promise.all(flood);
  goOn();
  expect(put).toEqual([]);
});

test('where nobody modest is about they have all of the time, least had first', async () => {
  const { ask, goOn, pass, begun, put } = thread();
  for (const [address, ms] of [
    ['a', 9_000],
    ['b', 1_000],
  ] as const) {
    await ask(address, 'stranger', 0);
    await ask(address, 'much', ms);
  }
  pass(1_001);
  begun.length = 0;
  const waiting = [ask('a', 'a0', 3), ask('a', 'a1', 3), ask('b', 'b0', 3), ask('b', 'b1', 3)];
  expect(begun).toEqual([]);
  for (let n = 0; n < 4; n += 1) expect(goOn()).toBe(0);
  expect(begun).toEqual(['b0', 'b1', 'a0', 'a1']);
  await Promise.all(waiting);
  goOn();
  expect(put).toEqual([]);
  pass(20_000);
  await ask('a', 'forgiven', 1);
  expect(begun.at(-1)).toBe('forgiven');
});

test('large answers count, and of those beyond what may wait the longest line is told to come again', async () => {
  const { ask, goOn, begun } = thread();
  await ask('reader', 'stranger', 0);
  await ask('reader', 'large', 0, 1_000_000_000);
  const many = Array.from({ length: 2_049 }, (_, n) => ask('reader', `r${n}`, 0.001));
  await expect(many.at(-1)).rejects.toBeInstanceOf(BusyError);
  expect(begun).toHaveLength(2);
  goOn();
  expect(begun.length).toBeGreaterThan(1_000);
  goOn();
  expect(await Promise.allSettled(many)).toHaveLength(2_049);
});
