import { useMemo } from 'preact/hooks';
import { address, ask } from '../address.ts';
import { html } from '../html.ts';

/** Spans of time that one may look at; which one stands in the address. */
const RANGES = { day: ['A day', 1], week: ['A week', 7], quarter: ['Three months', 90] } as const;
type Range = keyof typeof RANGES;
const UNSAID: Range = 'week';
const DAY_MS = 86_400_000;

const chosen = (): Range => {
  const said = address.value.query.get('range') ?? '';
  return Object.hasOwn(RANGES, said) ? (said as Range) : UNSAID;
};

/** When the span begins that the address asks for, ISO 8601. */
export function useSince(): string {
  const range = chosen();
  return useMemo(() => new Date(Date.now() - RANGES[range][1] * DAY_MS).toISOString(), [range]);
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
