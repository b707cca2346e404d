import { describe, expect, test, vi } from 'vitest';
import { BusyError, createReadGate } from '../../../api/http/read-gate.ts';

/** Work that ends when it is told to, in the order in which it began. */
function works() {
  const begun: { name: string; end(): void }[] = [];
  const work = (name: string) => () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    begun.push({ name, end: () => resolve(name) });
    return promise;
  };
  return { begun, names: () => begun.map(({ name }) => name), work };
}

describe('reads that take turns', () => {
  test('so many run side by side; lines of addresses take turns behind them', async () => {
    const { begun, names, work } = works();
    const gate = createReadGate({ atOnce: 2 });
    const flood = Array.from({ length: 20 }, (_, n) => gate('flood', work(`f${n}`)));
    const honest = gate('honest', work('h'));
    await vi.waitFor(() => expect(begun).toHaveLength(2));
    begun[0]?.end();
    begun[1]?.end();
    await vi.waitFor(() => expect(names()).toEqual(['f0', 'f1', 'f2', 'h']));
    for (let n = 2; n < 21; n += 1) {
      await vi.waitFor(() => expect(begun.length).toBeGreaterThan(n));
      begun[n]?.end();
    }
    expect(await honest).toBe('h');
    expect(await Promise.all(flood)).toHaveLength(20);
  });

  test('where no place is left, the longest line gives one up', async () => {
    const { begun, names, work } = works();
    const gate = createReadGate({ atOnce: 1, most: 4 });
    const flood = Array.from({ length: 8 }, (_, n) => gate('flood', work(`f${n}`)));
    const ended = Promise.allSettled(flood);
    const honest = [gate('a', work('a')), gate('b', work('b'))];
    while (names().length < 5) {
      const count = names().length;
      begun.at(-1)?.end();
      await vi.waitFor(() => expect(names().length).toBeGreaterThan(count)).catch(() => undefined);
    }
    begun.at(-1)?.end();
    expect(await Promise.all(honest)).toEqual(['a', 'b']);
    const told = (await ended).map((one) => (one.status === 'rejected' ? one.reason : one.value));
    expect(told.slice(0, 3)).toEqual(['f0', 'f1', 'f2']);
    expect(told.slice(3).every((reason) => reason instanceof BusyError)).toBe(true);
  });

  test('who waits too long is told so, and a failure makes room as an end does', async () => {
    const { work } = works();
    const gate = createReadGate({ atOnce: 1, waitMs: 20 });
    const fail = Promise.withResolvers<never>();
    const first = gate('a', () => fail.promise);
    await expect(gate('b', work('late'))).rejects.toBeInstanceOf(BusyError);
    fail.reject(new Error('down'));
    await expect(first).rejects.toThrow('down');
    expect(await gate('b', async () => 'next')).toBe('next');
  });
});
