import { expect, test } from 'vitest';
import { figureOfDay } from '../../api/explorer/browser/protocol/day-figures.ts';
import type { Figure } from '../../schemas/figure.ts';

const told = (value: string): Figure => ({ value, source: 'events', asOf: null });
const missing: Figure = { ...told(''), value: null, absent: true, reason: 'history is not read yet' };
const dayOf = (all: Figure, ours: Figure | null) => {
  const of = (figure: Figure) => ({
    ...{ routedToLp: figure, routedToBankroll: figure, protocolCut: figure },
    ...{ profitSwept: figure, spentOnBuybacks: figure },
  });
  const byQuote = ours === null ? [] : [{ quoteMint: 'ours', decimals: 6, ...of(ours) }];
  return { day: '2026-11-24', ...of(all), byQuote };
};

test('an asset without events on a day has no figure if the day’s sum is known, else an absent one', () => {
  const drawn = (all: Figure, ours: Figure | null) => figureOfDay(dayOf(all, ours), 'ours', 'profitSwept');
  expect(drawn(told('9'), null)).toBeNull();
  expect(drawn(missing, null)).toEqual(missing);
  expect(drawn(told('9'), told('0'))).toEqual(told('0'));
  expect(drawn(missing, missing)).toEqual(missing);
  // What is missing is known not to concern this asset.
  expect(drawn(missing, told('5'))).toEqual(told('5'));
});
