import { expect, test } from 'vitest';
import { equityNow } from '../../api/explorer/browser/coin/equity-now.ts';
import {
  cellOf,
  equityOf,
  joined,
  localOf,
  onChainOf,
  type Row,
  withSample,
} from '../../api/explorer/browser/history/rows.ts';

const known = (base: bigint) => ({ base, reason: null });
const lost = { base: null, reason: 'its states are gone' };
const row = (second: number, bankroll = 5n, deployed = 7n, attested = 3n): Row => ({
  time: new Date(second * 1000).toISOString(),
  ...{ bankroll: known(bankroll), deployed: known(deployed), attested: known(attested), hwm: known(11n) },
});

test('equity is what is unspent and what is at work; what cannot be told of a part cannot be told of the sum', () => {
  expect([equityOf(row(1)), onChainOf(row(1)), localOf(row(1))]).toEqual([known(12n), known(9n), known(4n)]);
  const gone = { ...row(1), deployed: lost };
  expect([equityOf(gone), onChainOf(gone), localOf(gone)]).toEqual([lost, lost, lost]);
  expect(cellOf(equityOf(gone), 6)).toEqual({ value: null, reason: 'its states are gone' });
  expect(cellOf(equityOf(row(1, 2n ** 64n - 1n)), 6)).toEqual({
    value: '18446744073709.551622',
    reason: null,
  });
});

test('equity now is as old as its oldest part, and absent for the reason of a part that is', () => {
  const part = (value: string, asOf: string | null) => ({ value, source: 'chain', asOf });
  const parts = {
    local: part('9007199254740993', '2026-11-24T00:00:02.000Z'),
    remote: part('0', '2026-11-24T00:00:01.000Z'),
    bankrollUnspent: part('1', '2026-11-24T00:00:03.000Z'),
  };
  expect(equityNow(parts)).toEqual({
    ...{ value: '9007199254740994', source: 'computed', asOf: '2026-11-24T00:00:01.000Z' },
  });
  expect(equityNow({ ...parts, local: part('1', null) }).asOf).toBeNull();
  const missing = { value: null, source: 'chain', asOf: null, absent: true as const, reason: 'not read yet' };
  expect(equityNow({ ...parts, remote: missing })).toEqual({ ...missing, source: 'computed' });
});

test('of what is seen the same only the first and the last time stand, and no more rows than may', () => {
  let rows: Row[] = [];
  for (const second of [1, 2, 3, 4]) rows = withSample(rows, row(second), 10);
  rows = withSample(rows, row(5, 6n), 10);
  expect(rows).toEqual([row(1), row(4), row(5, 6n)]);
  // The same answer again is no new sample.
  expect(withSample(rows, row(5, 6n), 10)).toEqual(rows);
  expect(withSample(rows, row(6, 8n), 2)).toEqual([row(5, 6n), row(6, 8n)]);
});

test('the past as it is answered again and what was seen since stand in the order of time', () => {
  expect(joined([row(1), row(4)], [row(2), row(5)])).toEqual([row(1), row(2), row(4), row(5)]);
});
