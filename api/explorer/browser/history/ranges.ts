import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { address, ask } from '../address.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { nowThere } from '../resource.ts';

/** Spans of time to choose from, in days; the address holds which is chosen. */
const RANGES = { day: ['A day', 1], week: ['A week', 7], quarter: ['Three months', 90] } as const;
type Range = keyof typeof RANGES;
const UNSAID: Range = 'week';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Changes once an hour: so often the spans move on while a page stays open. */
const hour = computed(() => Math.floor(now.value / HOUR_MS));

const chosen = (): Range => {
  const said = address.value.query.get('range') ?? '';
  return Object.hasOwn(RANGES, said) ? (said as Range) : UNSAID;
};

/** The API answers a longer span by days. */
const BY_HOURS = RANGES.week[1];

export interface Span {
  range: Range;
  /** When the chosen span begins, ISO 8601. */
  since: string;
  /** From when on the span is asked for by hours: `since`, or in a long span the beginning of a later day. */
  byHours: string;
}

export function useSpan(): Span {
  const range = chosen();
  return useMemo(() => {
    const end = nowThere();
    const ago = (days: number) => end - days * DAY_MS;
    const since = ago(RANGES[range][1]);
    const recent = Math.floor(ago(BY_HOURS) / DAY_MS) * DAY_MS;
    const iso = (ms: number) => new Date(ms).toISOString();
    return { range, since: iso(since), byHours: iso(RANGES[range][1] > BY_HOURS ? recent : since) };
  }, [range, hour.value]);
}

export function Ranges() {
  const range = chosen();
  return html`<div class="sorts" role="group" aria-label="Span of time">
    ${(Object.keys(RANGES) as Range[]).map(
      (name) => html`<button key=${name} type="button" aria-pressed=${name === range}
      onClick=${() => ask({ range: name === UNSAID ? null : name }, 'replace')}>${RANGES[name][0]}</button>`,
    )}
  </div>`;
}
