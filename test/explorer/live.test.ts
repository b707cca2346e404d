import { h, render } from 'preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Live, useLive } from '../../api/explorer/browser/coin/live.ts';

/** Longer than the page waits before it draws, and for how long it gathers events. */
const [A_MOMENT_MS, GATHER_MS] = [200, 1_000];
const sources: EventTarget[] = [];
const place = {} as Element;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  vi.stubGlobal(
    'EventSource',
    class extends EventTarget {
      constructor() {
        super();
        sources.push(this);
      }
      close() {}
    },
  );
});
afterEach(async () => {
  render(null, place);
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('after a gap in the event stream the list that it names is read again, events or posts', async () => {
  let known: Live | undefined;
  const figures = vi.fn();
  const Part = () => {
    known = useLive('m', figures);
    return null;
  };
  render(h(Part, {}), place);
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  const gap = async (data: unknown) => {
    sources[0]?.dispatchEvent(new MessageEvent('gap', { data: JSON.stringify(data) }));
    await vi.advanceTimersByTimeAsync(GATHER_MS + A_MOMENT_MS);
    return [known?.events, known?.posts, figures.mock.calls.length];
  };
  expect(await gap({ reason: 'r', read: '/coins/m/activity' })).toEqual([1, 0, 1]);
  expect(await gap({ reason: 'r', read: '/coins/m/posts' })).toEqual([1, 1, 1]);
  // A gap that names neither counts as one of events.
  expect(await gap(null)).toEqual([2, 1, 2]);
});
