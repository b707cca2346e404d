import { h, render } from 'preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { getJson, type Resource, useResource } from '../../api/explorer/browser/resource.ts';

const RETRY_MS = 3_000;
const TIMEOUT_MS = 15_000;
/** More than the page lets pass before it draws. */
const A_MOMENT_MS = 200;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { visibilityState: 'visible' });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** From now on each question is answered so. */
const answered = (by: (signal: AbortSignal) => Response | Promise<Response>) => {
  const asked = vi.fn((_path: string, { signal }: { signal: AbortSignal }) => Promise.resolve(by(signal)));
  vi.stubGlobal('fetch', asked);
  return asked;
};

/** A part of a page that has the answer of a path; nothing is drawn of it. */
function having(everyMs?: number): { known(): Resource<unknown>; end(): void } {
  let known: Resource<unknown> | undefined;
  const Part = () => {
    known = useResource('/x', everyMs);
    return null;
  };
  const place = {} as Element;
  render(h(Part, {}), place);
  return { known: () => known as Resource<unknown>, end: () => render(null, place) };
}

/** A 200 whose body begins, and goes on as it is told. */
const beginning = (then: (body: ReadableStreamDefaultController<Uint8Array>) => void): Response =>
  new Response(
    new ReadableStream({
      start(body) {
        body.enqueue(new TextEncoder().encode('{"a":1,'));
        then(body);
      },
    }),
  );
const brokenOff = () => beginning((body) => body.error(new TypeError('terminated')));

test.each([
  ['breaks off', brokenOff],
  ['ends too soon', () => beginning((body) => body.close())],
  ['is a page of somebody between', () => new Response('<!doctype html>')],
])('a body that %s is no answer: what is known stays, and it is asked for again', async (_, broken) => {
  answered(() => Response.json({ a: 1 }));
  const part = having(10_000);
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  expect(part.known()).toMatchObject({ state: 'ready', data: { a: 1 } });
  answered(broken);
  part.known().again();
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  const failure = 'the API’s answer broke off';
  expect(part.known()).toMatchObject({ state: 'old', data: { a: 1 }, failure });
  await expect(getJson('/x')).rejects.toThrow(failure);
  answered(() => Response.json({ a: 2 }));
  await vi.advanceTimersByTimeAsync(RETRY_MS + A_MOMENT_MS);
  expect(part.known()).toMatchObject({ state: 'ready', data: { a: 2 }, failure: null });
  part.end();
});

test('a body that does not end in time is no answer either, and the first one is asked for again', async () => {
  // The limit of a real one is a timer that no test moves.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const ends = new AbortController();
    setTimeout(() => ends.abort(new DOMException('too slow', 'TimeoutError')), ms);
    return ends.signal;
  });
  answered((signal) =>
    beginning((body) => signal.addEventListener('abort', () => body.error(signal.reason))),
  );
  const part = having();
  await vi.advanceTimersByTimeAsync(TIMEOUT_MS - A_MOMENT_MS);
  expect(part.known().state).toBe('loading');
  await vi.advanceTimersByTimeAsync(2 * A_MOMENT_MS);
  const failure = 'the API did not answer within 15 seconds';
  expect(part.known()).toMatchObject({ state: 'failed', data: null, failure });
  answered(() => Response.json({ a: 2 }));
  await vi.advanceTimersByTimeAsync(RETRY_MS + A_MOMENT_MS);
  expect(part.known()).toMatchObject({ state: 'ready', data: { a: 2 } });
  part.end();
});
