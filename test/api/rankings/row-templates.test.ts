import { describe, expect, test } from 'vitest';
import { createRowTemplates, fillIn, MARK } from '../../../api/rankings/row-templates.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';

const SEED = process.env.SEED ?? 'folded-1';
const random = createRandom(SEED);

/** Names that strangers may choose, and pieces of our own texts. */
const TEXTS = ['', '*', '{', '": ', '",', '\n', MARK, '"asOf": "x"', '‮', 'Größe', '2026-01-01', 'null'];
const text = () => TEXTS[random.int(0, TEXTS.length - 1)] as string;
const of = <const T extends readonly unknown[]>(...values: T): T[number] =>
  values[random.int(0, values.length - 1)];

const figure = (asOf: string | null): object =>
  of(
    { value: of('0', '17', null, 3), source: of('computed', 'chain:Policy'), asOf },
    { value: null, source: 'computed', asOf: null, absent: true, reason: text() },
  );

const row = (asOf: string | null) => ({
  mint: text(),
  mintName: of(text(), null),
  quoteMint: text(),
  origin: { id: random.int(0, 3), name: of(text(), null) },
  locked: of(true, false),
  marketCap: { quote: figure(of('1', '2')), usd: figure(of('1', null)), poolStatus: of(0, 1, null) },
  usd: { fees: figure('1'), bankroll: figure('2') },
  eventsLast24h: figure(asOf),
});
const PRICED = '2026-02-02T00:00:00.000Z';
const printed = (value: object) => JSON.stringify(value, null, 2).slice(1, -2);

describe(`printed rows kept as templates (SEED=${SEED})`, () => {
  test.each([2_000, 3])(
    'are put together exactly as printed, whole or folded, also beyond %i shapes',
    (most) => {
      const { fold, whole } = createRowTemplates(most);
      for (let turn = 0; turn < 500; turn += 1) {
        const text = printed(row('2026-01-01T00:00:00.000Z'));
        expect(fillIn(fold(text), null)).toBe(text);
        expect(fillIn(whole(text), null)).toBe(text);
      }
    },
  );

  test('have a time filled in where it was left open, and nowhere else', () => {
    const { fold, whole } = createRowTemplates();
    for (let turn = 0; turn < 500; turn += 1) {
      const one = row(MARK);
      const at = (time: string | null) => {
        const { eventsLast24h } = one;
        const isOpen = 'asOf' in eventsLast24h && eventsLast24h.asOf === MARK;
        return printed({ ...one, eventsLast24h: isOpen ? { ...eventsLast24h, asOf: time } : eventsLast24h });
      };
      for (const kept of [fold(printed(one)), whole(printed(one))]) {
        expect(kept.marked).toBe(at('x') !== at('y'));
        for (const time of ['2026-01-01T00:00:00.000Z', null]) expect(fillIn(kept, time)).toBe(at(time));
      }
    }
  });

  test('fill an open time that has a bound with the older of the two', () => {
    const { fold, whole } = createRowTemplates();
    const printedAt = (time: string | null, dollars: string | null) =>
      printed({ fees: { value: '0', asOf: time }, usd: { fees: { value: '0', asOf: dollars } } });
    const [before, behind] = ['2026-01-01T00:00:00.000Z', '2026-03-03T00:00:00.000Z'];
    for (const keep of [fold, whole]) {
      const kept = keep(printedAt(MARK, MARK + PRICED));
      expect(kept.marked).toBe(true);
      expect(fillIn(kept, before)).toBe(printedAt(before, before));
      expect(fillIn(kept, behind)).toBe(printedAt(behind, PRICED));
      expect(fillIn(kept, null)).toBe(printedAt(null, null));
    }
  });
});
