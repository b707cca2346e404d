import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { createLargeAnswers, PART_BYTES } from '../../../api/http/answers/large-answers.ts';
import { createHttp } from '../../../api/http/app.ts';
import { listen } from '../../../api/http/listen.ts';
import type { Latest } from '../../../api/latest/latest.ts';
import type { Store } from '../../../clickhouse/client.ts';

/** A connection that accepts a part when the test has it do so. */
class Response extends EventEmitter {
  destroyed = false;
  readonly written: number[] = [];
  #taken: (() => void) | undefined;
  write(part: Buffer, taken: () => void): void {
    this.written.push(part.length);
    this.#taken = taken;
  }
  take(): void {
    this.#taken?.();
  }
  end(): void {
    this.written.push(0);
    this.emit('close');
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function stage(atOnce: number) {
  const impatient = new Set<() => void>();
  const sendLarge = createLargeAnswers({
    atOnce,
    later: (call) => call(),
    startTimer: (call) => {
      impatient.add(call);
      return { refresh: () => undefined, end: () => void impatient.delete(call) };
    },
  });
  return {
    /** Sends an answer of three parts. */
    ask: () => {
      const response = new Response();
      sendLarge(response as unknown as ServerResponse, [Buffer.alloc(2 * PART_BYTES), Buffer.alloc(9)]);
      return response;
    },
    /** As if every connection had accepted nothing for too long. */
    losePatience: () => {
      for (const call of [...impatient]) call();
    },
  };
}

const WHOLE = [PART_BYTES, PART_BYTES, 9, 0];

test('a fixed number of large answers is sent side by side; others follow in the order of their requests', () => {
  const { ask } = stage(2);
  const all = [ask(), ask(), ask(), ask()] as const;
  expect(all.map(({ written }) => written.length)).toEqual([1, 1, 0, 0]);
  for (let n = 0; n < 3; n += 1) all[1].take();
  expect(all.map(({ written }) => written.length)).toEqual([1, 4, 1, 0]);
  for (const one of all) while (!one.written.includes(0)) one.take();
  expect(all.map(({ written }) => written)).toEqual([WHOLE, WHOLE, WHOLE, WHOLE]);
});

test('a client that accepts nothing for some time loses its place to the next and goes on at its own pace', () => {
  const { ask, losePatience } = stage(1);
  const [slow, quick] = [ask(), ask()];
  expect(quick.written).toEqual([]);
  losePatience();
  expect(quick.written).toEqual([PART_BYTES]);
  const third = ask();
  for (let n = 0; n < 3; n += 1) slow.take();
  expect(slow.written).toEqual(WHOLE);
  expect(third.written).toEqual([]);
  for (let n = 0; n < 3; n += 1) quick.take();
  expect(third.written).toEqual([PART_BYTES]);
});

test('a client that disconnects frees its place, whether it was waiting or being sent to', () => {
  const { ask } = stage(1);
  const [first, second, third] = [ask(), ask(), ask()];
  second.destroy();
  first.destroy();
  first.take();
  expect([first, second, third].map(({ written }) => written.length)).toEqual([1, 0, 1]);
});

test('large answers arrive whole, and other requests are answered while their clients do not read', async () => {
  const pieces = [5, 3 * PART_BYTES + 1, 0, PART_BYTES, 7_654_321].map((length) => randomBytes(length));
  const responses = { 200: Type.Unknown() };
  const large = {
    ...{ method: 'GET' as const, path: '/large', summary: '', responses, cached: true as const },
    answer: () => ({
      status: 200,
      body: pieces[0],
      rest: pieces.slice(1).map((bytes, at) => ({ bytes, tag: `${at}` })),
    }),
  };
  const made = { cells: [], stamps: [], madeAt: 0, until: Number.POSITIVE_INFINITY };
  const latest: Pick<Latest, 'readNow' | 'stillHolds' | 'age' | 'currentStore'> = {
    readNow: (make) => ({ value: make(null as never), ...made }),
    stillHolds: () => true,
    age: () => 0,
    currentStore: () => ({ database: 'none' }) as Store,
  };
  const api = await listen(
    createHttp([large], { latest: latest as Latest, clock: Date.now }),
    '127.0.0.1',
    0,
  );
  const url = `http://127.0.0.1:${api.port}`;
  const many = await Promise.all(Array.from({ length: 12 }, () => fetch(`${url}/large`)));
  expect((await fetch(`${url}/none`)).status).toBe(404);
  const whole = Buffer.concat(pieces);
  for (const answer of many) expect(whole.equals(new Uint8Array(await answer.arrayBuffer()))).toBe(true);
  await api.close();
});
