import { setImmediate as othersRun } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { type Poller, pollersOf, runPollers } from '../../../ingest/poll/pollers.ts';
import { countFailures, repeatRounds } from '../../../ingest/poll/round.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { type AnsweringServer, serveAnswers } from '../../support/answering.ts';
import { captureLog, pollOptions } from './support/capture.ts';

let server: AnsweringServer | null = null;
afterEach(async () => {
  vi.useRealTimers();
  await server?.close();
});

const STATUS: LogRecord = {
  kind: 'reading',
  readAt: 1,
  reading: { type: 'venue_status', venue: 'perp', ok: true, error: null },
};
const logger = createLogger('silent', 'test');

test('a failing round is repeated, and what it read before the failure is appended to the log', async () => {
  const stop = new AbortController();
  const log = captureLog();
  let rounds = 0;
  await repeatRounds('test', 1, { log, logger, signal: stop.signal }, async (emit) => {
    rounds += 1;
    await emit([STATUS]);
    if (rounds === 3) stop.abort();
    throw new Error('the store is away');
  });
  expect(rounds).toBe(3);
  expect(log.records).toHaveLength(3);
});

test('nothing is appended after the signal to stop', async () => {
  const stop = new AbortController();
  const log = captureLog();
  await repeatRounds('test', 1, { log, logger, signal: stop.signal }, async (emit) => {
    stop.abort();
    await emit([STATUS]);
  });
  expect(log.records).toEqual([]);
});

test('the failures of a round are reported as one error with their number', async () => {
  const { signal } = new AbortController();
  const failures = countFailures('prices', () => {});
  await failures.note(null, signal);
  expect(() => failures.report()).not.toThrow();
  await failures.note({ error: 'HTTP 500', retryAfterMs: 1 }, signal);
  expect(() => failures.report()).toThrow('1 of 2 prices failed: HTTP 500');
});

test('a stop ends a wait that a venue’s retry-after asked for', async () => {
  const stop = new AbortController();
  const waiting = countFailures('prices', () => {}).note(
    { error: 'HTTP 429', retryAfterMs: 600_000 },
    stop.signal,
  );
  stop.abort();
  await waiting;
});

test('a round of the options venue waits out its retry-after, unless it is stopped', async () => {
  server = await serveAnswers(() => ({ status: 429, headers: { 'retry-after': '600' }, body: 'slow down' }));
  const stop = new AbortController();
  const options = pollOptions({ OPTIONS_VENUE_URL: server.url }, { signal: stop.signal });
  const { round } = pollersOf(options).find(({ name }) => name === 'options') as Poller;
  let isOver = false;
  const told = Promise.withResolvers<readonly LogRecord[]>();
  const turn = round(async (records) => told.resolve(records)).then(() => {
    isOver = true;
  });
  expect(await told.promise).toMatchObject([{ reading: { type: 'venue_status', ok: false } }]);
  await othersRun();
  expect(isOver).toBe(false);
  stop.abort();
  await turn;
});

test('a poller whose store fails does not stop the others, and the signal stops all', async () => {
  server = await serveAnswers(() => ({ body: { id: 1, result: [] } }));
  const stop = new AbortController();
  const log = captureLog(() => {
    if (log.readings().some(({ type }) => type === 'currencies')) stop.abort();
  });
  // The store of these options throws whatever it is asked.
  const env = { OPTIONS_VENUE_URL: server.url, PERP_VENUE_URL: server.url, POLL_INTERVAL_MS: '100' };
  await runPollers(pollOptions(env, { log, signal: stop.signal }));
  expect(log.readings().map(({ type }) => type)).toContain('currencies');
});

const LONGEST_TIMER_MS = 2_147_483_647;

test.each([
  ['100', 100, 2_000],
  // Never sooner than 100 ms, whatever is asked for, and never so late that a timer would end at once.
  ['50', 100, 2_000],
  ['1', 100, 2_000],
  ['864000000', 864_000_000, LONGEST_TIMER_MS],
  ['999999999999', LONGEST_TIMER_MS, LONGEST_TIMER_MS],
])(
  'with POLL_INTERVAL_MS %s prices in use are polled every %i ms, the catalogue and its listed prices every %i ms',
  (POLL_INTERVAL_MS, often, seldom) => {
    const pollers = pollersOf(pollOptions({ POLL_INTERVAL_MS }, {}));
    const intervals = new Map(pollers.map(({ name, intervalMs }) => [name, intervalMs]));
    expect([intervals.get('catalogue'), intervals.get('prices that are listed')]).toEqual([seldom, seldom]);
    expect(intervals.get('prices in use')).toBe(often);
  },
);

test('the next round of a poller begins an interval after the last one has ended, however short the interval is', async () => {
  vi.useFakeTimers();
  const stop = new AbortController();
  const ends: (() => void)[] = [];
  const running = repeatRounds('test', 1, { log: captureLog(), logger, signal: stop.signal }, () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push(resolve);
    return promise;
  });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(ends).toHaveLength(2);
  stop.abort();
  ends[1]?.();
  await running;
});
