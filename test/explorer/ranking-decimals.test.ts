import { h, render } from 'preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useDecimals } from '../../api/explorer/browser/rankings/decimals.ts';

/** Longer than the page waits before it draws. */
const A_MOMENT_MS = 200;
const RETRY_MS = 3_000;
const place = {} as Element;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { visibilityState: 'visible' });
});
afterEach(async () => {
  render(null, place);
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('decimals that a busy API did not tell are not called unknown, and are asked for again', async () => {
  const asked: string[] = [];
  let isBusy = true;
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path);
    const headers = { 'Retry-After': '1' };
    return isBusy
      ? Response.json({ error: 'busy' }, { status: 503, headers })
      : Response.json({ six: 6, none: null });
  });
  const drawn = new Map<string, unknown>();
  const All = () => {
    for (const mint of ['six', 'none']) drawn.set(mint, useDecimals(mint));
    return null;
  };
  render(h(All, {}), place);
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  expect([...drawn]).toEqual([
    ['six', undefined],
    ['none', undefined],
  ]);
  expect(asked).toEqual(['/explorer/decimals?mints=six,none']);
  isBusy = false;
  await vi.advanceTimersByTimeAsync(RETRY_MS + A_MOMENT_MS);
  expect([...drawn]).toEqual([
    ['six', 6],
    ['none', null],
  ]);
  await vi.advanceTimersByTimeAsync(10 * RETRY_MS);
  expect(asked.length).toBe(2);
});
