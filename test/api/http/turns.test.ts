import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Type } from 'typebox';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHttp } from '../../../api/http/app.ts';
import type { Route } from '../../../api/http/route.ts';
import { createTurns } from '../../../api/http/turns/turns.ts';
import type { Latest } from '../../../api/latest/latest.ts';
import { BusyError } from '../../../runtime/errors.ts';

/** A simulated thread: work takes as long as it says, and deferred calls run when the test runs them. */
function thread() {
  let now = 0;
  let soon: (() => void)[] = [];
  const rests: { call(): void; ms: number }[] = [];
  const begun: string[] = [];
  const turns = createTurns({
    now: () => now,
    later: (call) => void soon.push(call),
    after: (call, ms) => void rests.push({ call, ms }),
  });
  const ask = (address: string, name: string, ms: number, bytes = 0) =>
    turns(address, async () => {
      begun.push(name);
      now += ms;
      return bytes;
    });
  /** Goes on once the requests that came have been looked at. */
  const goOn = () => {
    const calls = soon;
    soon = [];
    for (const call of calls) call();
  };
  /** Ends a rest. @returns how long it was */
  const restOver = () => {
    const rest = rests.shift();
    rest?.call();
    return rest?.ms;
  };
  const pass = (ms: number) => {
    now += ms;
  };
  /** Gives an address so much time of the thread. */
  const hasHad = async (address: string, ms: number) => {
    await ask(address, 'stranger', 0);
    await ask(address, 'much', ms);
    goOn();
    begun.length = 0;
  };
  return { turns, ask, goOn, restOver, pass, hasHad, begun, isDone: () => soon.length + rests.length === 0 };
}

test('a client that has used over a tenth of the thread waits behind modest ones and gets a quarter of the time', async () => {
  const { ask, goOn, restOver, hasHad, begun, isDone } = thread();
  await hasHad('honest', 1);
  await hasHad('flood', 200);
  const flood = Array.from({ length: 4 }, (_, n) => ask('flood', `f${n}`, 0.5));
  await ask('honest', 'h0', 0.1);
  expect(begun.splice(0)).toEqual(['h0']);
  goOn();
  expect(begun.splice(0)).toEqual(['f0', 'f1']);
  await ask('honest', 'h1', 0.1);
  goOn();
  expect(begun.splice(0)).toEqual(['h1']);
  // Including everything that came in between.
  expect(restOver()).toBeCloseTo(3 * 1.1);
  goOn();
  expect(begun.splice(0)).toEqual(['f2', 'f3']);
  await Promise.all(flood);
  goOn();
  restOver();
  goOn();
  expect(isDone()).toBe(true);
});

test('a client that becomes heavy while it is alone does not rest', async () => {
  const { ask, goOn, pass, begun, isDone } = thread();
  const all = [ask('alone', 'stranger', 0)];
  pass(1_001);
  all.push(ask('alone', 'little', 140), ask('alone', 'much', 20));
  goOn();
  all.push(...[1, 2, 3].map((n) => ask('alone', `a${n}`, 2)));
  for (let n = 0; n < 3; n += 1) goOn();
  expect(begun).toEqual(['stranger', 'little', 'much', 'a1', 'a2', 'a3']);
  await Promise.all(all);
  goOn();
  expect(isDone()).toBe(true);
});

test('heavy clients also rest for the time in which their answers are compressed and written', async () => {
  const { ask, goOn, restOver, pass, hasHad, begun } = thread();
  await hasHad('honest', 1);
  await hasHad('flood', 200);
  const flood = [ask('flood', 'f0', 0.1), ask('flood', 'f1', 0.1)];
  await ask('honest', 'h', 0.1);
  goOn();
  // Then their answers are compressed and written.
  pass(20);
  goOn();
  expect(begun).toEqual(['h', 'f0', 'f1']);
  flood.push(ask('flood', 'f2', 0.1));
  goOn();
  expect(begun).toHaveLength(3);
  expect(restOver()).toBeCloseTo(3 * 20.2);
  goOn();
  expect(begun.at(-1)).toBe('f2');
  await Promise.all(flood);
});

test('when many modest requests arrive at once, the client that has used least is next', async () => {
  const { ask, goOn, hasHad, begun } = thread();
  await hasHad('reader', 1);
  await hasHad('eager', 100);
  const many = Array.from({ length: 3 }, (_, n) => ask('eager', `e${n}`, 2));
  many.push(ask('reader', 'r', 0.1));
  expect(begun).toEqual(['e0']);
  goOn();
  expect(begun).toEqual(['e0', 'r', 'e1']);
  goOn();
  expect(begun.at(-1)).toBe('e2');
  await Promise.all(many);
});

test('without a modest client about, heavy clients have all of the time, the one that has used least first', async () => {
  const { ask, goOn, pass, hasHad, begun, isDone } = thread();
  await hasHad('a', 9_000);
  await hasHad('b', 1_000);
  pass(1_001);
  const waiting = [ask('a', 'a0', 3), ask('a', 'a1', 3), ask('b', 'b0', 3), ask('b', 'b1', 3)];
  expect(begun).toEqual([]);
  for (let n = 0; n < 4; n += 1) goOn();
  expect(begun).toEqual(['b0', 'b1', 'a0', 'a1']);
  await Promise.all(waiting);
  goOn();
  expect(isDone()).toBe(true);
  pass(20_000);
  await ask('a', 'forgiven', 1);
  expect(begun.at(-1)).toBe('forgiven');
});

test('the bytes of answers count as use, and beyond the number that may wait the longest queue gets BusyError', async () => {
  const { ask, goOn, restOver, begun } = thread();
  await ask('reader', 'stranger', 0);
  await ask('reader', 'large', 0, 1_000_000_000);
  const many = Array.from({ length: 2_049 }, (_, n) => ask('reader', `r${n}`, 0.01));
  await expect(many.at(-1)).rejects.toBeInstanceOf(BusyError);
  expect(begun).toHaveLength(2);
  for (let n = 0; n < 60; n += 1) {
    goOn();
    restOver();
  }
  expect(begun).toHaveLength(2_050);
  expect(await Promise.allSettled(many)).toHaveLength(2_049);
});

test('time that a request reports after its first wait counts as use', async () => {
  const { turns, ask, goOn, hasHad, begun } = thread();
  await hasHad('late', 1);
  await turns('late', async (chargeThread) => {
    await null;
    chargeThread(200);
    return 0;
  });
  goOn();
  const all = [ask('late', 'l', 0.1), ask('other', 'o', 0.1)];
  expect(begun).toEqual(['o']);
  goOn();
  expect(begun).toEqual(['o', 'l']);
  await Promise.all(all);
});

test('the time to print an uncached response is charged to its client, though it comes after a wait', async () => {
  let clock = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => clock);
  onTestFinished(() => now.mockRestore());
  const begun: string[] = [];
  const long = {
    toJSON: () => {
      clock += 400;
      return 'printed';
    },
  };
  const route: Route = {
    method: 'GET',
    path: '/own/:name',
    summary: 'One that is printed for long, and others.',
    responses: { 200: Type.Unknown() },
    cached: false,
    handler: async ({ params: { name } }) => {
      begun.push(String(name));
      await null;
      return { status: 200, body: name === 'long' ? long : {} };
    },
  };
  const app = createHttp([route], { latest: {} as Latest, clock: Date.now, trustProxy: 1 }).callback();
  /** Requests that have arrived, to be begun at once. */
  let came = new Map<string, () => void>();
  let wanted = 1;
  const server = http.createServer((request, response) => {
    came.set(String(request.url), () => void app(request, response));
    if (came.size < wanted) return;
    const all = came;
    came = new Map();
    for (const path of [...all.keys()].toSorted()) all.get(path)?.();
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const ask = async (name: string, from: string) =>
    (await fetch(`http://127.0.0.1:${port}/own/${name}`, { headers: { 'x-forwarded-for': from } })).text();
  // New addresses share one account.
  await ask('stranger', '10.0.0.1');
  await ask('stranger', '10.0.0.2');
  await ask('long', '10.0.0.1');
  begun.length = 0;
  wanted = 2;
  await Promise.all([ask('a', '10.0.0.1'), ask('b', '10.0.0.2')]);
  expect(begun).toEqual(['b', 'a']);
});

/** How long readers wait for a thread that hostile clients keep busy, in simulated time. */
async function waitsOf(hostile: number, addresses: number): Promise<number[]> {
  let now = 0;
  let timed: { at: number; happen(): void }[] = [];
  const immediate: (() => void)[] = [];
  const at = (time: number, happen: () => void) => void timed.push({ at: time, happen });
  const turns = createTurns({
    now: () => now,
    later: (call) => void immediate.push(call),
    after: (call, ms) => at(now + ms, call),
  });
  const waits: number[] = [];
  const ask = (who: string, ms: number, answered: () => void) =>
    // Work that is still queued at the end is refused then.
    void turns(who, async () => {
      now += ms;
      answered();
      return 0;
    }).catch(() => {});
  const reader = (who: string, askedAt: number) => {
    ask(who, 1, () => waits.push(now - askedAt));
    at(askedAt + 40, () => reader(who, askedAt + 40));
  };
  // Each attacker asks again as soon as it is answered.
  const attacker = (n: number): void =>
    ask(`hostile ${n % addresses}`, 2, () => at(now + 1, () => attacker(n)));
  for (let n = 0; n < 4; n += 1) at(n * 3, () => reader(`reader ${n}`, n * 3));
  for (let n = 0; n < hostile; n += 1) at(0, () => attacker(n));
  while (now < 20_000) {
    const due = timed.filter((one) => one.at <= now);
    timed = timed.filter((one) => one.at > now);
    for (const { happen } of due.toSorted((one, other) => one.at - other.at)) happen();
    for (const call of immediate.splice(0)) call();
    await null;
    if (immediate.length === 0 && timed.every((one) => one.at > now))
      now = Math.min(...timed.map((one) => one.at));
  }
  return waits.slice(waits.length / 10).toSorted((one, other) => one - other);
}

test.each([1, 20])(
  'beside 400 endless requesters from %i addresses, a reader’s p99 wait is at most three times that alone',
  async (addresses) => {
    const p99 = (waits: number[]) => waits[Math.floor(waits.length * 0.99)] as number;
    const [alone, beside] = [await waitsOf(0, 1), await waitsOf(400, addresses)];
    expect(beside).toHaveLength(alone.length);
    expect(p99(beside)).toBeLessThanOrEqual(3 * p99(alone));
  },
);
