import { expect, test } from 'vitest';
import { createSharedAnswers } from '../../../api/http/answers/shared-answers.ts';
import type { InTurn } from '../../../api/http/turns/read-for-all.ts';
import { createReadGate } from '../../../api/http/turns/read-gate.ts';
import type { Latest } from '../../../api/latest/latest.ts';
import { BusyError } from '../../../runtime/errors.ts';
import { awaited, PATIENCE_MS } from '../../support/awaited.ts';

/** Answers that need a read first; the test ends each read. */
function coldAnswers() {
  const reads: { end(): void; fail(error: Error): void }[] = [];
  const latest: Pick<Latest, 'read' | 'readNow' | 'stillHolds'> = {
    read: async (make) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      reads.push({ end: resolve, fail: reject });
      await promise;
      return {
        value: make(null as never),
        cells: [],
        stamps: [],
        madeAt: 0,
        until: Number.POSITIVE_INFINITY,
      };
    },
    readNow: () => null,
    stillHolds: () => false,
  };
  const shared = createSharedAnswers(latest, 1_000_000);
  const ask = async (key: string, address: string, inTurn: InTurn): Promise<string> => {
    const { bytes } = await shared.wait(key, () => ({ status: 200, body: { key } }), inTurn, address);
    return JSON.parse(bytes.toString()).key;
  };
  return { reads, ask };
}

const atOnce: InTurn = (work) => work();
const refused: InTurn = () => Promise.reject(new BusyError('too many requests are waiting'));

/** A queue in which work waits until the test lets it go on or fails it. */
function line() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const inTurn: InTurn = async (work) => {
    await promise;
    return work();
  };
  return { inTurn, call: resolve, refuse: () => reject(new BusyError('too many requests are waiting')) };
}

test('a page queued behind a client’s flood is read once, in the turn of the next client that asks for it', async () => {
  const { reads, ask } = coldAnswers();
  let now = 0;
  const gate = createReadGate({ atOnce: 12, waitMs: PATIENCE_MS, now: () => now, after: () => {} });
  const by = (address: string, key: string) => ask(key, address, (work) => gate(address, work));
  const all = [by('honest', 'warm'), by('flood', 'warm too')];
  await awaited(() => expect(reads).toHaveLength(2));
  for (const { end } of reads) end();
  await Promise.all(all);
  for (let n = 0; n < 300; n += 1) all.push(by('flood', `cold ${n}`));
  const floods = by('flood', 'wanted');
  await awaited(() => expect(reads).toHaveLength(5));
  const honest = by('honest', 'wanted');
  await awaited(() => expect(reads).toHaveLength(6));
  reads[5]?.end();
  expect(await Promise.all([honest, floods])).toEqual(['wanted', 'wanted']);
  // Its turn in the long queue is over at once.
  for (let at = 0; at < reads.length; at += 1) {
    now += 1;
    reads[at]?.end();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  expect(reads).toHaveLength(2 + 300 + 1);
});

test('a client that loses its place in the queue is refused; one whose queue is full joins another client’s read', async () => {
  const { reads, ask } = coldAnswers();
  const [first, second] = [line(), line()];
  const flood = ask('page', 'flood', first.inTurn);
  const honest = ask('page', 'honest', second.inTurn);
  const late = ask('page', 'late', refused);
  first.refuse();
  await expect(flood).rejects.toThrow(BusyError);
  second.call();
  await awaited(() => expect(reads).toHaveLength(1));
  reads[0]?.end();
  expect(await Promise.all([honest, late])).toEqual(['page', 'page']);
  await expect(ask('page', 'late', refused)).rejects.toThrow(BusyError);
  const again = ask('page', 'late', atOnce);
  await awaited(() => expect(reads).toHaveLength(2));
  reads[1]?.end();
  expect(await again).toBe('page');
});

test('a thousand requests for a page take one queue place per address and one read in all, and fail together', async () => {
  const { reads, ask } = coldAnswers();
  let places = 0;
  const waiting = line();
  const inTurn: InTurn = (work) => {
    places += 1;
    return waiting.inTurn(work);
  };
  const askAll = () => Array.from({ length: 1_000 }, (_, n) => ask('page', `reader ${n % 10}`, inTurn));
  const all = askAll();
  waiting.call();
  await awaited(() => expect(reads).toHaveLength(1));
  all.push(...askAll());
  reads[0]?.fail(new Error('the store is away'));
  const outcomes = await Promise.allSettled(all);
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect([places, reads.length]).toEqual([10, 1]);
});
