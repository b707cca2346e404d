import { h, render } from 'preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { useEvents } from '../../api/explorer/browser/coin/events.ts';

/** Longer than the page waits before it draws. */
const A_MOMENT_MS = 200;
const place = {} as Element;
const settled = () => vi.advanceTimersByTimeAsync(A_MOMENT_MS);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { visibilityState: 'visible' });
});
afterEach(async () => {
  render(null, place);
  await settled();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test.each([
  ['when the end was known', 'before'],
  ['while the last page loads', 'meanwhile'],
])('all events can be reached after more than a page of new ones came at once, %s', async (_, when) => {
  /** How many events there are; the newest has the highest number. */
  let all = 230;
  let burst: (() => Promise<void>) | null = null;
  vi.stubGlobal('fetch', async (path: string) => {
    const { searchParams } = new URL(path, 'http://localhost');
    const [limit, offset] = ['limit', 'offset'].map((name) => Number(searchParams.get(name) ?? 0)) as [
      number,
      number,
    ];
    const length = Math.max(0, Math.min(limit, all - offset));
    const items = Array.from({ length }, (_, at) => ({ signature: `${all - offset - at}` }));
    const isLast = length > 0 && offset + length === all;
    if (isLast) await burst?.();
    return Response.json({ items });
  });
  let known: ReturnType<typeof useEvents> | undefined;
  const Part = ({ fresh }: { fresh: number }) => {
    known = useEvents('m', fresh);
    return null;
  };
  const draw = async (fresh: number) => {
    render(h(Part, { fresh }), place);
    await settled();
  };
  const toTheEnd = async () => {
    for (let pages = 0; pages < 10; pages += 1) {
      known?.older();
      await settled();
    }
    return known?.items.map(({ signature }) => Number(signature));
  };
  const allOf = (count: number) => Array.from({ length: count }, (_, at) => count - at);
  const come = async () => {
    all = 400;
    burst = null;
    await draw(1);
  };
  await draw(0);
  if (when === 'meanwhile') burst = come;
  else {
    expect(await toTheEnd()).toEqual(allOf(230));
    await come();
  }
  expect(await toTheEnd()).toEqual(allOf(400));
});
