import { expect, test } from 'vitest';
import { dated, STEPS_S, ticksOf } from '../../api/explorer/browser/charts/ticks.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** The texts of the ticks of an axis that begins at noon. */
function textsOf(spanS: number, stepS: number): string[] {
  const from = Date.parse('2026-11-21T12:00:00.000Z') / 1000;
  const ticks = ticksOf(from, from + spanS, stepS);
  return ticks.map((tick, at) => dated(tick, spanS, at === 0));
}

test.each([
  ['a day', 1, 3],
  ['three days', 3, 6],
  ['a week', 7, 12],
])(
  'over %s the time axis names each day once, where it begins, and a time everywhere else',
  (_, days, hours) => {
    const texts = textsOf(days * DAY_S, hours * HOUR_S);
    const named = texts.flatMap((text, at) => (/^Nov \d+$/.test(text) ? [[at, text]] : []));
    const perDay = 24 / hours;
    expect(named).toEqual(
      Array.from({ length: days }, (_, day) => [perDay / 2 + day * perDay, `Nov ${22 + day}`]),
    );
    expect(texts[0]).toBe('12:00\nNov 21');
  },
);

test('ticks of days begin days of UTC, also where the axis begins on the day on which the reader’s clock is set', () => {
  for (const begins of ['2026-03-08T15:00:00Z', '2026-03-29T12:00:00Z', '2026-11-01T13:30:00Z']) {
    const from = Date.parse(begins) / 1000;
    for (const step of STEPS_S.filter((one) => one >= DAY_S)) {
      const ticks = ticksOf(from, from + 20 * step, step);
      expect(ticks).toHaveLength(20);
      for (const tick of ticks) expect(tick % DAY_S).toBe(0);
    }
  }
});
