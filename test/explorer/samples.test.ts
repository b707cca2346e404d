import { h, render } from 'preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useSamples } from '../../api/explorer/browser/coin/samples.ts';
import { nowThere, useResource } from '../../api/explorer/browser/resource.ts';
import type { LoopResponse } from '../../schemas/responses/coin/loop.ts';
import { AT, coinAnswers, figureOf } from './support/coin-answers.ts';

/** Longer than the page waits before it draws. */
const A_MOMENT_MS = 200;
const EVERY_MS = 15_000;
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

test.each([
  ['slow', -600_000],
  ['fast', 26 * 3_600_000],
])(
  'samples of equity have the time of the clock that answered if the clock of the reader is %s',
  async (_, ms) => {
    let there = Date.parse(AT);
    vi.setSystemTime(there + ms);
    vi.stubGlobal('fetch', async () => {
      const headers = { Date: new Date(there).toUTCString() };
      return Response.json(coinAnswers().loop, { headers });
    });
    let seen: ReturnType<typeof useSamples> = [];
    const Part = () => {
      seen = useSamples(useResource<LoopResponse>('/coins/m/loop', EVERY_MS));
      return null;
    };
    render(h(Part, {}), place);
    await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
    there += EVERY_MS;
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(seen.map(({ time }) => time)).toEqual([AT, new Date(there).toISOString()]);
    // A span of time to choose from ends now by that clock.
    expect(Math.abs(nowThere() - there)).toBeLessThan(EVERY_MS);
  },
);

test('of two samples of one second, to which that clock counts, the later one is kept', async () => {
  const { loop } = coinAnswers();
  vi.stubGlobal('fetch', async () => {
    return Response.json(loop, { headers: { Date: new Date(AT).toUTCString() } });
  });
  let seen: ReturnType<typeof useSamples> = [];
  let again = () => {};
  const Part = () => {
    const resource = useResource<LoopResponse>('/coins/m/loop', EVERY_MS);
    again = resource.again;
    seen = useSamples(resource);
    return null;
  };
  render(h(Part, {}), place);
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  loop.step4_deployed.bankrollUnspent = figureOf('7');
  again();
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  expect(seen.map(({ time, bankroll }) => [time, bankroll.base])).toEqual([[AT, 7n]]);
});
