import { h, render } from 'preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Past } from '../../api/explorer/browser/history/past.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const POLL_MS = 60_000;
/** Longer than the page waits before it draws. */
const A_MOMENT_MS = 200;
const BEGIN = Date.parse('2026-11-24T05:00:00.000Z');
const place = {} as Element;

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(BEGIN);
  vi.stubGlobal('document', { visibilityState: 'visible' });
  vi.stubGlobal('location', { pathname: '/explorer/', search: '?range=day' });
});
afterEach(async () => {
  render(null, place);
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a span of time moves on while the page stays open, and what is known of it stays until the next answer', async () => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path);
    return Response.json({ step: 'hour', items: [{ time: new Date().toISOString() }] });
  });
  const [{ useSpan }, { usePast }] = await Promise.all([
    import('../../api/explorer/browser/history/ranges.ts'),
    import('../../api/explorer/browser/history/past.ts'),
  ]);
  const states: string[] = [];
  const Part = () => {
    const past: Past<{ step: 'hour'; items: { time: string }[] }> = usePast('/h', useSpan(), POLL_MS);
    states.push(past.history.data === null ? 'nothing' : 'known');
    return null;
  };
  render(h(Part, {}), place);
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  expect(asked).toEqual([`/h?from=${new Date(BEGIN - DAY_MS).toISOString()}`]);
  await vi.advanceTimersByTimeAsync(3 * HOUR_MS + A_MOMENT_MS);
  const from = Date.parse(asked.at(-1)?.replace('/h?from=', '') ?? '');
  expect(Date.now() - from).toBeGreaterThanOrEqual(DAY_MS);
  expect(Date.now() - from).toBeLessThan(DAY_MS + 2 * HOUR_MS);
  expect(states.lastIndexOf('nothing')).toBeLessThan(states.indexOf('known'));
});
