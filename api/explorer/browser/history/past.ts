import { useMemo, useRef } from 'preact/hooks';
import type { Step } from '../../../../schemas/responses/history.ts';
import { type Resource, useResource } from '../resource.ts';
import type { Span } from './ranges.ts';

interface History {
  step: Step;
  items: readonly { time: string }[];
}

export interface Past<T> {
  /** By hours; where the span is long, by days first and by hours at its end. */
  history: Resource<T>;
  /** The path of the API that has the numbers of a time. */
  pathAt(time: string): string | null;
}

/** The past of a span. Where the span moves on, what is known of it stays until it is answered anew. */
export function usePast<T extends History>(route: string, span: Span, everyMs: number): Past<T> {
  const newest = usePastOf<T>(route, span, everyMs);
  const kept = useRef<{ of: string; past: Past<T> } | null>(null);
  const of = `${route} ${span.range}`;
  const { state, data, failure, status } = newest.history;
  if (data !== null) kept.current = { of, past: newest };
  if (data !== null || kept.current?.of !== of) return newest;
  const { past } = kept.current;
  return state === 'loading'
    ? past
    : { ...past, history: { ...past.history, state: 'old', failure, status } };
}

/** The past of exactly this span; its last days by hours, since a day that is not over has no end yet. */
function usePastOf<T extends History>(route: string, { since, byHours }: Span, everyMs: number): Past<T> {
  const hours = useResource<T>(`${route}?from=${byHours}`, everyMs);
  const isLong = since < byHours;
  const days = useResource<T>(isLong ? `${route}?from=${since}&to=${byHours}&step=day` : null, everyMs);
  const both = useMemo(
    () =>
      hours.data === null || days.data === null
        ? null
        : { ...hours.data, items: [...days.data.items, ...hours.data.items] },
    [hours.data, days.data],
  );
  if (!isLong) return { history: hours, pathAt: () => hours.path };
  // Both answers are parts of what is shown, so the one in the worse state gives the state of the whole.
  const worse = STATES.indexOf(days.state) > STATES.indexOf(hours.state) ? days : hours;
  const askNow = () => {
    hours.askNow();
    days.askNow();
  };
  return {
    history: { ...worse, data: both, path: hours.path, askNow },
    pathAt: (time) => (time <= byHours ? days.path : hours.path),
  };
}

/** The worst state last. */
const STATES: readonly Resource<unknown>['state'][] = ['ready', 'old', 'loading', 'failed'];
