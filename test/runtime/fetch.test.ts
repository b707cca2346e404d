import { createHook } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RetryableError } from '../../runtime/errors.ts';
import { fetchBounded } from '../../runtime/outside/fetch.ts';
import { type AnsweringServer, deadUrl, serveAnswers } from '../support/answering.ts';
import { awaited } from '../support/awaited.ts';

let server: AnsweringServer;
beforeAll(async () => {
  server = await serveAnswers(({ path, method, body }) => {
    if (path === '/hang') return null;
    if (path === '/large') return { body: 'x'.repeat(5_000) };
    if (path === '/elsewhere') return { status: 302, headers: { location: '/large' } };
    return { status: 418, headers: { 'retry-after': '7' }, body: { method, body } };
  });
});
afterAll(() => server.close());

const limits = { timeoutMs: 20_000, maxBytes: 1_000 };

test('a reply comes back whole, whatever its status', async () => {
  const reply = await fetchBounded(`${server.url}/x`, { ...limits, method: 'POST', body: '[1]' });
  expect(reply.status).toBe(418);
  expect(reply.headers.get('retry-after')).toBe('7');
  expect(JSON.parse(Buffer.from(reply.bytes).toString())).toEqual({ method: 'POST', body: [1] });
});

test('a reply over the size limit is an error', async () => {
  await expect(fetchBounded(`${server.url}/large`, limits)).rejects.toThrow(/reply over 1000 bytes/);
});

test('a redirect is returned as the reply and not followed', async () => {
  const before = server.asked.length;
  expect((await fetchBounded(`${server.url}/elsewhere`, limits)).status).toBe(302);
  expect(server.asked.slice(before).map(({ path }) => path)).toEqual(['/elsewhere']);
});

test('a request without a reply in time and a refused connection fail with a RetryableError each', async () => {
  const late = fetchBounded(`${server.url}/hang`, { ...limits, timeoutMs: 50 });
  await expect(late).rejects.toThrow(RetryableError);
  await expect(late).rejects.toThrow(/^timed out$/);
  const nobody = fetchBounded(await deadUrl(), limits);
  await expect(nobody).rejects.toThrow(RetryableError);
  await expect(nobody).rejects.toThrow(/^refused$/);
});

test('after the reply neither the timeout’s timer nor the abort listener is left', async () => {
  const timeoutMs = 19_777;
  const timers: { _idleTimeout?: number; _destroyed?: boolean }[] = [];
  const watched = createHook({
    init: (_id, type, _trigger, resource) => void (type === 'Timeout' && timers.push(resource)),
  }).enable();
  const stop = new AbortController();
  await fetchBounded(`${server.url}/x`, { ...limits, timeoutMs, signal: stop.signal });
  watched.disable();
  const own = timers.filter(({ _idleTimeout: ms }) => ms === timeoutMs || ms === -1);
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter(({ _destroyed: isOver }) => !isOver)).toEqual([]);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});

test('an aborted signal ends a request with a RetryableError, before it starts and while it waits', async () => {
  const gone = fetchBounded(`${server.url}/x`, { ...limits, signal: AbortSignal.abort() });
  await expect(gone).rejects.toThrow(RetryableError);
  const stop = new AbortController();
  const asked = server.asked.length;
  const hanging = fetchBounded(`${server.url}/hang`, { ...limits, signal: stop.signal });
  await awaited(() => expect(server.asked.length).toBeGreaterThan(asked));
  stop.abort();
  await expect(hanging).rejects.toThrow(RetryableError);
});

test('credentials in the URL are sent as basic authentication and show in no error', async () => {
  await fetchBounded(server.url.replace('http://', 'http://user:p%40ss@'), limits);
  const login = Buffer.from('user:p@ss').toString('base64');
  expect(server.asked.at(-1)?.headers.authorization).toBe(`Basic ${login}`);
  const url = (await deadUrl()).replace('http://', 'http://user:hunter2@');
  const error = await fetchBounded(url, limits).catch((thrown: Error) => thrown);
  expect(error).toBeInstanceOf(RetryableError);
  expect((error as Error).message).toBe('refused');
});
