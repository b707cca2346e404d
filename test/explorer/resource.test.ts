import { h, render } from 'preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { getJson, type Resource, useResource } from '../../api/explorer/browser/resource.ts';

const RETRY_MS = 3_000;
const TIMEOUT_MS = 15_000;
/** How long the page waits after a refused one-time request, and the longest wait. */
const [SELDOM_MS, HOUR_MS] = [15_000, 3_600_000];
/** Longer than the page waits before it draws. */
const A_MOMENT_MS = 200;
const ends: (() => void)[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { visibilityState: 'visible' });
});
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  // Let everything end before real timers are back.
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** From now on each request is answered like this. */
const answered = (by: (signal: AbortSignal) => Response | Promise<Response>) => {
  const asked = vi.fn((_path: string, { signal }: { signal: AbortSignal }) => Promise.resolve(by(signal)));
  vi.stubGlobal('fetch', asked);
  return asked;
};

/** A component that uses the answer of a path and draws nothing. */
function having(everyMs?: number) {
  let known: Resource<unknown> | undefined;
  const Part = ({ path }: { path: string }) => {
    known = useResource(path, everyMs);
    return null;
  };
  const place = {} as Element;
  const ask = (path: string) => render(h(Part, { path }), place);
  ask('/x');
  ends.push(() => render(null, place));
  return { ask, known: () => known as Resource<unknown> };
}

/** A 200 whose body begins, and goes on as the test says. */
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
  ['is a page of a proxy in between', () => new Response('<!doctype html>')],
])('a response body that %s is a failure: known data stays and the request is retried', async (_, broken) => {
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
});

test('a response body that does not end in time is a failure, and a first request is retried too', async () => {
  // Fake timers do not move the timer of a real AbortSignal.timeout.
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
});

/** An answer after so long. */
const slowly = <T>(ms: number, answer: () => T): Promise<T> =>
  new Promise((resolve) => setTimeout(resolve, ms)).then(answer);
/** A connection on which an answer takes longer than the time between two changes of a busy policy. */
const [SLOW_MS, BUSY_MS] = [1_500, 1_000];

test('answers slower than the requests for new ones are drawn, and one request runs at a time', async () => {
  let [asked, open, most] = [0, 0, 0];
  answered(() => {
    asked += 1;
    open += 1;
    most = Math.max(most, open);
    const at = asked;
    return slowly(SLOW_MS, () => {
      open -= 1;
      return Response.json(at);
    });
  });
  const part = having();
  const drawn = new Set<unknown>();
  for (let times = 0; times < 10; times += 1) {
    await vi.advanceTimersByTimeAsync(BUSY_MS);
    drawn.add(part.known().data);
    part.known().again();
  }
  expect(drawn.size).toBeGreaterThan(4);
  expect(most).toBe(1);
  // A request made while one is under way is sent after it, once.
  await vi.advanceTimersByTimeAsync(3 * SLOW_MS);
  const before = asked;
  part.known().again();
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  part.known().again();
  part.known().again();
  await vi.advanceTimersByTimeAsync(5 * SLOW_MS);
  expect([asked, part.known().data]).toEqual([before + 2, before + 2]);
});

test('a failure slower than the requests for new answers is shown', async () => {
  answered(() =>
    slowly(SLOW_MS, () => {
      throw new TypeError('no network');
    }),
  );
  const part = having();
  for (let times = 0; times < 5; times += 1) {
    await vi.advanceTimersByTimeAsync(BUSY_MS);
    part.known().again();
  }
  expect(part.known()).toMatchObject({ state: 'failed', failure: 'the API cannot be reached' });
});

test('a new path is requested at once, and a late answer for the previous path is ignored', async () => {
  const answers = new Map<string, (body: Response) => void>();
  vi.stubGlobal('fetch', (path: string) => new Promise<Response>((told) => answers.set(path, told)));
  const part = having();
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  part.known().again();
  part.ask('/y');
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  expect([...answers.keys()]).toEqual(['/x', '/y']);
  answers.get('/y')?.(Response.json('y'));
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  answers.get('/x')?.(Response.json('x'));
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  expect(part.known()).toMatchObject({ path: '/y', state: 'ready', data: 'y' });
});

test.each([
  ['429 that says for how long', 429, '20', undefined, 20_000],
  ['503 that says for how long', 503, '20', 10_000, 20_000],
  ['503 that says less than the page waits anyway', 503, '1', 10_000, RETRY_MS],
  ['429 that says no number', 429, 'soon', 10_000, 10_000],
  ['429 that says for longer than a timer lasts', 429, '99999999', 10_000, HOUR_MS],
  ['403', 403, null, 10_000, 10_000],
  ['408', 408, null, undefined, SELDOM_MS],
  ['404', 404, null, undefined, SELDOM_MS],
])(
  'after a %s the request is repeated when its wait is over, and not before',
  async (_, status, retryAfter, everyMs, waitMs) => {
    const headers = new Headers(retryAfter === null ? {} : { 'Retry-After': retryAfter });
    const asked = answered(() => new Response('no', { status, headers }));
    const part = having(everyMs);
    await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
    // A busy policy changes all the time.
    part.known().again();
    await vi.advanceTimersByTimeAsync(waitMs - 3 * A_MOMENT_MS);
    part.known().again();
    await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
    expect(part.known()).toMatchObject({ state: 'failed', status });
    expect(asked).toHaveBeenCalledTimes(1);
    answered(() => Response.json('here'));
    await vi.advanceTimersByTimeAsync(3 * A_MOMENT_MS);
    expect(part.known()).toMatchObject({ state: 'ready', data: 'here' });
  },
);

test('an invalid query (400) is sent once and not retried', async () => {
  const asked = answered(() => Response.json({ error: 'no such sort' }, { status: 400 }));
  const part = having(10_000);
  await vi.advanceTimersByTimeAsync(2 * HOUR_MS);
  part.known().again();
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  expect(part.known()).toMatchObject({ state: 'failed', status: 400 });
  expect(asked).toHaveBeenCalledTimes(1);
});

test('a retry by hand and a new path do not wait, whatever the refusal before', async () => {
  answered(() => new Response('no', { status: 429, headers: { 'Retry-After': '20' } }));
  const part = having();
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  answered(() => Response.json('here'));
  part.known().askNow();
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  expect(part.known()).toMatchObject({ state: 'ready', data: 'here' });
  answered(() => new Response('no', { status: 400 }));
  part.known().again();
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  answered(() => Response.json('there'));
  part.ask('/y');
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  expect(part.known()).toMatchObject({ path: '/y', state: 'ready', data: 'there' });
});
