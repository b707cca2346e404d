import { describe, expect, test } from 'vitest';
import { createReadGate, type ReadGateOptions } from '../../../api/http/turns/read-gate.ts';
import { BusyError } from '../../../runtime/errors.ts';
import { awaited } from '../../support/awaited.ts';

/** Work that the test ends, listed in the order in which it began. */
function works() {
  const begun: { name: string; end(): void }[] = [];
  const work = (name: string) => () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    begun.push({ name, end: () => resolve(name) });
    return promise;
  };
  /** Ends the work that began last; work that this lets in has begun afterwards. */
  const endLast = async () => {
    await new Promise(setImmediate);
    begun.at(-1)?.end();
    await new Promise(setImmediate);
  };
  return { begun, names: () => begun.map(({ name }) => name), work, endLast };
}

/** A gate that knows these addresses, and a clock that is moved by hand. */
async function gateThatKnows(addresses: string[], options: Partial<ReadGateOptions> & { atOnce: number }) {
  let now = 0;
  const gate = createReadGate({ after: (call) => call(), ...options, waitMs: 100_000, now: () => now });
  for (const address of addresses) await gate(address, async () => {});
  const pass = (ms: number) => {
    now += ms;
  };
  return { gate, pass };
}

describe('the read gate', () => {
  test('reads wait for a free place, and the client that has kept the store busy least is next', async () => {
    const { names, work, endLast } = works();
    const { gate, pass } = await gateThatKnows(['flood', 'honest'], { atOnce: 1 });
    const flood = Array.from({ length: 3 }, (_, n) => gate('flood', work(`f${n}`)));
    const honest = Array.from({ length: 2 }, (_, n) => gate('honest', work(`h${n}`)));
    for (let n = 0; n < 5; n += 1) {
      await new Promise(setImmediate);
      pass(names().at(-1)?.startsWith('f') ? 50 : 5);
      await endLast();
    }
    expect(names()).toEqual(['f0', 'h0', 'h1', 'f1', 'f2']);
    await Promise.all([...flood, ...honest]);
  });

  test('a client has at most a quarter of the places while another is active, and three quarters when alone', async () => {
    const { begun, names, work } = works();
    const { gate, pass } = await gateThatKnows(['honest', 'flood'], { atOnce: 8 });
    const reads = Array.from({ length: 4 }, (_, n) => gate('flood', work(`f${n}`)));
    reads.push(gate('honest', work('h')));
    await awaited(() => expect(names()).toEqual(['f0', 'f1', 'h']));
    pass(500);
    reads.push(...Array.from({ length: 4 }, (_, n) => gate('other', work(`o${n}`))));
    await awaited(() => expect(names().slice(3)).toEqual(['o0', 'o1', 'o2']));
    pass(5_001);
    reads.push(gate('other', work('o4')), gate('other', work('o5')));
    begun[0]?.end();
    await awaited(() => expect(names().slice(6)).toEqual(['o3', 'o4', 'o5']));
    for (let n = 1; n < reads.length; n += 1) {
      await awaited(() => expect(begun.length).toBeGreaterThan(n));
      begun[n]?.end();
    }
    await Promise.all(reads);
  });

  test('while a modest client is active, heavy clients share a sixth of the places', async () => {
    const { begun, names, work } = works();
    const floods = ['f', 'g', 'h', 'i'];
    const { gate, pass } = await gateThatKnows([...floods, 'modest'], { atOnce: 12 });
    const all: Promise<unknown>[] = floods.map((name) => gate(name, work(name)));
    await awaited(() => expect(begun).toHaveLength(4));
    pass(3_000);
    for (const { end } of begun) end();
    await Promise.all(all);
    all.push(gate('modest', work('modest')), ...floods.map((name) => gate(name, work(`${name}2`))));
    all.push(gate('modest', work('modest too')));
    await awaited(() => expect(names().slice(4)).toEqual(['modest', 'f2', 'g2', 'modest too']));
    // For one that ends, one begins.
    begun[5]?.end();
    await awaited(() => expect(names().slice(8)).toEqual(['h2']));
    // No other address has been active lately: one that ends makes room for all that wait.
    pass(1_001);
    begun[6]?.end();
    await awaited(() => expect(names().slice(9)).toEqual(['i2']));
    for (const { end } of begun) end();
    await Promise.all(all);
  });

  test('a modest client answered without the store limits heavy ones, too, and their places rest as long as used', async () => {
    const { begun, names, work, endLast } = works();
    let anyRecent = true;
    const rests: [() => void, number][] = [];
    const after = (call: () => void, ms: number) => void rests.push([call, ms]);
    const others = { anyRecent: () => anyRecent };
    const { gate, pass } = await gateThatKnows(['f', 'g'], { atOnce: 12, others, after });
    const all: Promise<unknown>[] = [gate('f', work('f0'))];
    await awaited(() => expect(begun).toHaveLength(1));
    pass(3_000);
    await endLast();
    all.push(...[1, 2, 3, 4].map((n) => gate('f', work(`f${n}`))));
    await awaited(() => expect(names()).toEqual(['f0', 'f1', 'f2']));
    pass(100);
    begun[1]?.end();
    await new Promise(setImmediate);
    expect(names()).toHaveLength(3);
    expect(rests.map(([, ms]) => ms)).toEqual([100]);
    rests[0]?.[0]();
    await awaited(() => expect(names().slice(3)).toEqual(['f3']));
    anyRecent = false;
    pass(1_001);
    begun[2]?.end();
    await awaited(() => expect(names().slice(4)).toEqual(['f4']));
    for (const { end } of begun) end();
    await Promise.all(all);
    expect(rests).toHaveLength(1);
  });

  test('a client that becomes heavy while it is alone is not limited and its places do not rest', async () => {
    const { begun, names, work, endLast } = works();
    const others = { anyRecent: (except?: string) => except !== 'f' };
    const rests: number[] = [];
    const after = (_: () => void, ms: number) => void rests.push(ms);
    const { gate, pass } = await gateThatKnows(['f'], { atOnce: 12, others, after });
    const all: Promise<unknown>[] = [gate('f', work('f0'))];
    await awaited(() => expect(begun).toHaveLength(1));
    pass(900);
    all.push(gate('f', work('f1')));
    pass(900);
    begun[0]?.end();
    await endLast();
    all.push(...[2, 3, 4, 5].map((n) => gate('f', work(`f${n}`))));
    await awaited(() => expect(names()).toEqual(['f0', 'f1', 'f2', 'f3', 'f4', 'f5']));
    for (const { end } of begun) end();
    await Promise.all(all);
    expect(rests).toEqual([]);
  });

  test('a client that is alone leaves a place free for the next client', async () => {
    const { begun, names, work } = works();
    const { gate } = await gateThatKnows(['flood'], { atOnce: 4 });
    const reads = Array.from({ length: 5 }, (_, n) => gate('flood', work(`f${n}`)));
    await awaited(() => expect(names()).toEqual(['f0', 'f1', 'f2']));
    reads.push(gate('honest', work('h')));
    await awaited(() => expect(names()).toEqual(['f0', 'f1', 'f2', 'h']));
    for (let n = 0; n < reads.length; n += 1) {
      await awaited(() => expect(begun.length).toBeGreaterThan(n));
      begun[n]?.end();
    }
    await Promise.all(reads);
  });

  test('requests from ever new addresses share one queue', async () => {
    const { names, work, endLast } = works();
    const { gate, pass } = await gateThatKnows(['known'], { atOnce: 1 });
    const strangers = Array.from({ length: 20 }, (_, n) => gate(`10.0.0.${n}`, work(`s${n}`)));
    const known = gate('known', work('known'));
    await new Promise(setImmediate);
    pass(10);
    await endLast();
    expect(names()).toEqual(['s0', 'known']);
    for (let n = 0; n < 20; n += 1) await endLast();
    expect(await known).toBe('known');
    expect(await Promise.all(strangers)).toHaveLength(20);
  });

  test('beyond the number of reads that may wait, the longest queue loses some with BusyError', async () => {
    const { names, work, endLast } = works();
    const { gate } = await gateThatKnows(['flood', 'a', 'b'], { atOnce: 1, most: 4 });
    const flood = Array.from({ length: 8 }, (_, n) => gate('flood', work(`f${n}`)));
    const ended = Promise.allSettled(flood);
    const honest = [gate('a', work('a')), gate('b', work('b'))];
    for (let n = 0; n < 5; n += 1) await endLast();
    expect(names()).toHaveLength(5);
    expect(await Promise.all(honest)).toEqual(['a', 'b']);
    const told = (await ended).map((one) => (one.status === 'rejected' ? one.reason : one.value));
    expect(told.slice(0, 3)).toEqual(['f0', 'f1', 'f2']);
    expect(told.slice(3).every((reason) => reason instanceof BusyError)).toBe(true);
  });

  test('a read that waits too long is refused with BusyError, and a failed read frees its place', async () => {
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
