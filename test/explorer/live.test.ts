import { h, render } from 'preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Live, useLive } from '../../api/explorer/browser/coin/live.ts';

/** Longer than the page waits before it draws, and for how long it gathers events. */
const [A_MOMENT_MS, GATHER_MS] = [200, 1_000];
/** Longer than a tab that was left keeps its stream. */
const HIDDEN_MS = 2_000;
/** The streams that were opened, and those of them that are open. */
const sources: EventTarget[] = [];
const open = new Set<EventTarget>();
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
        open.add(this);
      }
      close() {
        open.delete(this);
      }
    },
  );
});
afterEach(async () => {
  render(null, place);
  await vi.advanceTimersByTimeAsync(A_MOMENT_MS);
  vi.useRealTimers();
  vi.unstubAllGlobals();
  sources.length = 0;
  expect(open).toEqual(new Set());
});

async function show(visibilityState: 'visible' | 'hidden'): Promise<void> {
  Object.assign(document, { visibilityState });
  document.dispatchEvent(new Event('visibilitychange'));
  await vi.advanceTimersByTimeAsync(HIDDEN_MS);
}

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

test('a tab holds a stream only while it is visible, also if it was opened in the background', async () => {
  Object.assign(document, { visibilityState: 'hidden' });
  const Part = () => {
    useLive('m', () => {});
    return null;
  };
  render(h(Part, {}), place);
  await vi.advanceTimersByTimeAsync(HIDDEN_MS);
  expect(sources).toHaveLength(0);
  await show('visible');
  expect(open.size).toBe(1);
  await show('hidden');
  expect(open.size).toBe(0);
  await show('visible');
  expect(open.size).toBe(1);
});
