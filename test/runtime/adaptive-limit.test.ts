import { expect, test } from 'vitest';
import { createAdaptiveLimit } from '../../runtime/rpc/adaptive-limit.ts';
import { RpcError } from '../../runtime/rpc/error.ts';

const refused = () => new RpcError('refused', 'too large', { retryOn: 'anotherNode' });

/** How many items each try of `calls` calls for a hundred asks for; the provider takes `takes(n)` at try n. */
async function asked(calls: number, takes: (call: number) => number): Promise<number[]> {
  const limit = createAdaptiveLimit(1);
  const all: number[] = [];
  for (let call = 0; call < calls; call += 1)
    await limit.ask(100, async (many) => {
      all.push(many);
      if (many > takes(all.length)) throw refused();
    });
  return all;
}

test('after a spell in which nearly nothing was taken the limit grows back to what is wanted', async () => {
  const all = await asked(100, (call) => (call <= 6 ? 0 : 100));
  expect(all.slice(0, 7)).toEqual([100, 50, 25, 12, 6, 3, 1]);
  expect(all[99]).toBe(100);
});

test('a number that is always refused is tried again, but ever more rarely', async () => {
  const all = await asked(10_000, () => 60);
  const refusals = all.flatMap((many, at) => (many > 60 ? [at] : []));
  expect(refusals.length).toBeGreaterThan(5);
  expect(refusals.length).toBeLessThan(20);
  expect(new Set(all)).toEqual(new Set([100, 50]));
});

test('a refused try of more does not lower the known limit', async () => {
  const limit = createAdaptiveLimit(1);
  const all: number[] = [];
  for (let call = 0; call < 300; call += 1)
    await limit.ask(call % 3 === 2 ? 60 : 100, async (many) => {
      all.push(many);
      if (many > 50) throw refused();
    });
  expect(all).toContain(60);
  expect(Math.min(...all)).toBe(50);
});

test('calls that want less than the limit do not raise it', async () => {
  const limit = createAdaptiveLimit(1);
  const all: number[] = [];
  const ask = (wanted: number, most: number) =>
    limit.ask(wanted, async (many) => {
      all.push(many);
      if (many > most) throw refused();
    });
  await ask(100, 50);
  for (let call = 0; call < 50; call += 1) await ask(3, 50);
  await ask(100, 50);
  expect(new Set(all.slice(2, -1))).toEqual(new Set([3]));
  expect(all.at(-1)).toBe(50);
});
