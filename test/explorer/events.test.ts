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
    for (let tries = 0; tries < 30; tries += 1) {
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

test('a next page that does not fit to the rows shown is asked for again only after a while', async () => {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path);
    const isFirst = !path.includes('offset');
    const items = Array.from({ length: isFirst ? 100 : 0 }, (_, at) => ({ signature: `${100 - at}` }));
    return Response.json({ items });
  });
  let known: ReturnType<typeof useEvents> | undefined;
  const Part = () => {
    known = useEvents('m', 0);
    return null;
  };
  render(h(Part, {}), place);
  await settled();
  for (let tries = 0; tries < 5; tries += 1) {
    known?.older();
    await settled();
  }
  expect(asked.filter((path) => path.includes('offset'))).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(3_000);
  known?.older();
  await settled();
  expect(asked.filter((path) => path.includes('offset'))).toHaveLength(2);
  expect(known?.items).toHaveLength(100);
});
