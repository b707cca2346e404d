import { useMemo } from 'preact/hooks';
import type { Step } from '../../../../schemas/responses/history.ts';
import { type Resource, useResource } from '../resource.ts';
import type { Span } from './ranges.ts';

interface History {
  step: Step;
  items: readonly { time: string }[];
}

export interface Past<T> {
  /** By days and behind them by hours, where the span is long. */
  history: Resource<T>;
  /** The path of the API that answers what was at a time. */
  pathAt(time: string): string | null;
}

/** The past of a span: its last days by hours, for the day that is not over has no end to be known of. */
export function usePast<T extends History>(
  route: string,
  { since, byHours }: Span,
  everyMs: number,
): Past<T> {
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
  // What one of them lacks is a part of what is shown: that one says how all of it stands.
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

/** The worst last. */
const STATES: readonly Resource<unknown>['state'][] = ['ready', 'old', 'loading', 'failed'];
