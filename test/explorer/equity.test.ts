import { describe, expect, test } from 'vitest';
import { equityNow } from '../../api/explorer/browser/coin/equity-now.ts';
import { heldInQuote, pastInQuote } from '../../api/explorer/browser/coin/other-asset.ts';
import { shownOf } from '../../api/explorer/browser/history/moment.ts';
import {
  cellOf,
  equityOf,
  heldOn,
  joined,
  localOf,
  onChainOf,
  type Row,
  rowOfHistory,
  rowOfLoop,
  unknownOf,
  withSample,
} from '../../api/explorer/browser/history/rows.ts';
import { stamp } from '../../api/explorer/browser/text/times.ts';
import type { Figure } from '../../schemas/figure.ts';
import type { LoopResponse } from '../../schemas/responses/coin/loop.ts';
import type { CoinHistoryItem, Step } from '../../schemas/responses/history.ts';
import { coinAnswers, LOCAL, REMOTE } from './support/coin-answers.ts';

const known = (base: bigint) => ({ base, reason: null });
const lost = { base: null, reason: 'its states are gone' };
const row = (second: number, bankroll = 5n, deployed = 7n, attested = 3n): Row => ({
  time: new Date(second * 1000).toISOString(),
  ...{ bankroll: known(bankroll), deployed: known(deployed), attested: known(attested), hwm: known(11n) },
  asOf: new Date(second * 1000).toISOString(),
});

test('equity is the unspent bankroll plus what is deployed, and absent with the reason of an absent part', () => {
  expect([equityOf(row(1)), onChainOf(row(1)), localOf(row(1))]).toEqual([known(12n), known(9n), known(4n)]);
  const gone = { ...row(1), deployed: lost };
  expect([equityOf(gone), onChainOf(gone), localOf(gone)]).toEqual([lost, lost, lost]);
  expect(cellOf(equityOf(gone), 6)).toEqual({ value: null, reason: 'its states are gone' });
  expect(cellOf(equityOf(row(1, 2n ** 64n - 1n)), 6)).toEqual({
    value: '18446744073709.551622',
    reason: null,
  });
});

test('current equity has the time of its oldest part, and is absent with the reason of an absent part', () => {
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

describe('the panel of a moment’s equity', () => {
  const TOLD = {
    quote: { decimals: 6, symbol: 'USDX' },
    name: 'Equity',
    pathAt: (at: string) => `/coins/m/history?at=${at}`,
  };
  const figure = (value: string, asOf: string | null) => ({ value, source: 'chain', asOf });
  const time = '2026-11-24T12:00:00.000Z';
  const parts = {
    bankroll: figure('300', '2026-11-24T11:59:58.000Z'),
    deployed: figure('112', '2026-11-24T06:00:00.000Z'),
    attestedEquity: figure('100', '2026-11-24T06:00:00.000Z'),
    hwm: figure('400', '2026-11-24T01:00:00.000Z'),
  };
  const at = ['At', '2026-11-24 12:00:00 UTC'];

  test('has the time of the oldest part, which may be before the step, and none if a part has none', () => {
    const shown = shownOf(rowOfHistory({ time, ...parts }), TOLD);
    expect(shown).toMatchObject({ asOf: '2026-11-24T06:00:00.000Z', path: TOLD.pathAt(time) });
    expect(shown.more?.[0]).toEqual(at);
    const undated = { ...parts, bankroll: figure('300', null) };
    expect(shownOf(rowOfHistory({ time, ...undated }), TOLD)).toMatchObject({ absent: false, asOf: null });
  });

  test('has the time of the oldest part, and the API path, also for a sample taken by this page', () => {
    const held = { bankrollUnspent: parts.bankroll, local: figure('12', null), remote: parts.attestedEquity };
    const loop = (local: Figure) =>
      ({ step4_deployed: { ...held, local }, step5_profit: { hwm: parts.hwm } }) as LoopResponse;
    const seen = (local: Figure) => shownOf(rowOfLoop(loop(local), Date.parse(time), '/coins/m/loop'), TOLD);
    expect(seen(parts.bankroll)).toMatchObject({ asOf: '2026-11-24T06:00:00.000Z', path: '/coins/m/loop' });
    expect(seen(parts.bankroll).more?.[0]).toEqual(at);
    expect(seen(held.local).asOf).toBeNull();
  });
});

describe('the balance of Local accounts within equity', () => {
  const { loop, history } = coinAnswers();
  const held = loop.step4_deployed;
  const [ended] = history.items as [CoinHistoryItem];
  const ofNow = { ...ended, time: '2026-11-24T05:10:07.000Z' };
  const none: Figure = { value: null, source: 'chain', asOf: null, absent: true, reason: 'not read yet' };
  const absentFor = (reason: string) => expect.objectContaining({ value: null, absent: true, reason });
  const unsure = absentFor(`account ${LOCAL} may have held another asset than the quote then`);

  test('is absent now if the answer with the sum names an account of another asset', () => {
    const local = (sum: Figure, ...localOfOtherAssets: string[]) =>
      heldInQuote({ ...held, local: sum, localOfOtherAssets }).local;
    expect(heldInQuote(held)).toEqual(held);
    expect(local(held.local)).toEqual(held.local);
    const reason = `account ${LOCAL} holds another asset than the quote`;
    expect(local(held.local, LOCAL, REMOTE)).toEqual(absentFor(reason));
    // The API's own reason is better.
    expect(local(none, LOCAL)).toEqual(none);
  });

  test('is absent in past steps if an account may have held another asset; an unfinished step is left out', () => {
    const past = (step: Step, ...items: CoinHistoryItem[]) =>
      pastInQuote({ step, items, localMaybeOfOtherAssets: [LOCAL] });
    expect(pastInQuote({ step: 'hour', items: [ended, ofNow] })).toEqual([ended, ofNow]);
    expect(past('hour', ended, ofNow)).toEqual([{ ...ended, deployed: unsure }]);
    const lacking = { ...ended, deployed: none };
    expect(past('hour', lacking, { ...ofNow, deployed: none })).toEqual([
      lacking,
      { ...ofNow, deployed: none },
    ]);
    // A full hour does not end a day.
    expect(past('day', ended)).toEqual([]);
    const day = { ...ended, time: '2026-11-24T00:00:00.000Z' };
    expect(past('day', day)).toEqual([{ ...day, deployed: unsure }]);
  });
});

test('a reason names an hour by its beginning, not by an end that may lie in the future', () => {
  const reason = `${LOCAL} is not known before the hour that ends at 2026-11-24T06:00:00.000Z`;
  const missing: Figure = { value: null, source: 'chain', asOf: null, absent: true, reason };
  const time = '2026-11-24T05:00:00.000Z';
  const { deployed } = rowOfHistory({
    ...{ time, bankroll: missing, deployed: missing, attestedEquity: missing, hwm: missing },
  });
  expect(deployed.reason).toBe(`${LOCAL} was first seen in the hour that began at ${time}`);
});

test('of equal samples in a row only the first and the last are kept, and no more rows than allowed', () => {
  let rows: Row[] = [];
  for (const second of [1, 2, 3, 4]) rows = withSample(rows, row(second), 10);
  rows = withSample(rows, row(5, 6n), 10);
  expect(rows).toEqual([row(1), row(4), row(5, 6n)]);
  // The same answer again adds no sample.
  expect(withSample(rows, row(5, 6n), 10)).toEqual(rows);
  expect(withSample(rows, row(6, 8n), 2)).toEqual([row(5, 6n), row(6, 8n)]);
});

describe('the API’s history joined with the samples of this page', () => {
  const HOUR_S = 3_600;
  const unseen = (second: number, until: Row, step: 'hour' | 'day' = 'hour'): Row => {
    const [begin, end] = [new Date((second - 1) * 1000).toISOString(), until.time].map(stamp);
    const reason = `this page did not look between ${begin} and ${end} UTC, and the API keeps what was at the end of each ${step}`;
    const nothing = { base: null, reason };
    const time = new Date(second * 1000).toISOString();
    const parts = { bankroll: nothing, deployed: nothing, attested: nothing, hwm: nothing };
    return { time, ...parts, asOf: null, isUnseen: true };
  };
  const past = [row(HOUR_S), row(2 * HOUR_S, 6n)];
  const END_S = 2 * HOUR_S;

  test('begins where the past does: of what is older the page alone would tell, and nothing of the time between', () => {
    const before = [row(600, 1n), row(620, 2n)];
    const since = (past[0] as Row).time;
    expect(joined(past, before, 'hour', since)).toEqual(past);
    const seen = row(END_S + 10, 6n);
    expect(joined(past, [...before, seen], 'hour', since)).toEqual([...past, seen]);
  });

  test('is in the order of time, with an unknown row where the page did not look', () => {
    const seen = [row(END_S + 600, 8n), row(END_S + 620, 9n)];
    expect(joined(past, seen, 'hour')).toEqual([...past, unseen(END_S + 1, seen[0] as Row), ...seen]);
    // The present state at the end of an answer counts as seen too.
    const now = row(END_S + 590, 7n);
    expect(joined([...past, now], seen, 'hour')).toEqual([...past, unseen(END_S + 1, now), now, ...seen]);
    expect(joined([...past, now], [], 'hour')).toEqual([...past, unseen(END_S + 1, now), now]);
    const next = row(25 * HOUR_S, 8n);
    expect(joined([row(0), row(24 * HOUR_S)], [next], 'day')).toEqual([
      ...[row(0), row(24 * HOUR_S), unseen(24 * HOUR_S + 1, next, 'day'), next],
    ]);
  });

  test('has no unknown row without history, without time in between, or where the page kept looking', () => {
    const seen = [row(END_S - 60), row(END_S - 50, 6n)];
    expect(joined([], seen, 'hour')).toEqual(seen);
    expect(joined(past, [], 'hour')).toEqual(past);
    expect(joined(past, [row(END_S + 1, 8n)], 'hour')).toEqual([...past, row(END_S + 1, 8n)]);
    // Seen before and after the hour's end: a value that stayed the same has a first and a last row.
    const [first, last] = [row(HOUR_S + 60, 6n), row(END_S + 900, 6n)];
    expect(joined(past, [first, last], 'hour')).toEqual([
      ...[row(HOUR_S), unseen(HOUR_S + 1, first), first, row(END_S, 6n), last],
    ]);
    expect(joined(past, [row(END_S - 10, 5n), row(END_S + 5, 8n)], 'hour').slice(-3)).toEqual([
      ...[row(END_S - 10, 5n), row(END_S, 6n), row(END_S + 5, 8n)],
    ]);
  });

  test('has unknown rows also after the hour has ended, and between samples that are far apart', () => {
    const seen = [row(HOUR_S + 600, 8n), row(HOUR_S + 620, 9n)];
    const before = [row(HOUR_S), unseen(HOUR_S + 1, seen[0] as Row), ...seen];
    expect(joined(past, seen, 'hour')).toEqual([...before, row(END_S, 6n)]);
    // The history is newer than the samples, and ends with the present.
    const now = row(END_S + 600, 4n);
    expect(joined([...past, now], seen, 'hour').slice(-3)).toEqual([
      ...[row(END_S, 6n), unseen(END_S + 1, now), now],
    ]);
    const later = row(HOUR_S + 900, 3n);
    expect(joined(past, [...seen, later], 'hour')).toEqual([
      ...[...before, unseen(HOUR_S + 621, later), later, row(END_S, 6n)],
    ]);
  });

  test('has no unknown row between equal rows of history, or after a row with nothing known', () => {
    const now = row(END_S + 600, 6n);
    expect(joined([...past, now], [], 'hour')).toEqual([...past, now]);
    const changed = row(END_S + 600, 9n);
    const { isUnseen: _, ...gone } = unseen(END_S, changed);
    expect(joined([row(HOUR_S), gone, changed], [], 'hour')).toEqual([row(HOUR_S), gone, changed]);
    // A tab that slept sees the same value as before, though another was there meanwhile.
    const [before, after] = [row(HOUR_S + 600, 5n), row(END_S + 900, 5n)];
    expect(joined(past, [before, after], 'hour').slice(-2)).toEqual([unseen(END_S + 1, after), after]);
  });

  test('has the row of the history where a sample has the same time, and leaves out no end of a step', () => {
    const early: Row = { ...row(END_S), bankroll: lost, deployed: lost };
    expect(joined(past, [early], 'hour')).toEqual(past);
    const same: Row = { ...row(END_S, 6n), time: new Date(END_S * 1000 + 400).toISOString() };
    expect(joined(past, [same], 'hour')).toEqual([...past, same]);
  });

  test('gives the newest reason for an absent value, and the last known value where the page did not look', () => {
    const rows = joined([row(HOUR_S), { ...row(END_S), hwm: lost }], [row(END_S + 600, 9n)], 'hour');
    expect(rows.map(({ isUnseen }) => isUnseen)).toContain(true);
    expect(unknownOf(rows)).toBe('its states are gone');
    expect(unknownOf(joined(past, [row(END_S + 600, 9n)], 'hour'))).toBeNull();
    expect(unknownOf(past)).toBeNull();
    const none = { base: null, reason: null };
    const heldOf = (of: (row: Row) => Row['hwm']) => heldOn(rows, of);
    expect(heldOf(({ bankroll }) => bankroll)).toEqual([none, none, known(5n), known(9n)]);
    // A value that was unknown is not carried on; one that is unknown now keeps its last value up to now.
    expect(heldOf(({ hwm }) => hwm)).toEqual([none, none, lost, known(11n)]);
    const gone = { ...row(END_S + 600, 9n), deployed: lost };
    expect(heldOn(joined(past, [gone], 'hour'), equityOf)).toEqual([none, none, known(13n), known(13n)]);
  });

  test('merges equal rows that are shown as of the same second', () => {
    const at = (ms: number, bankroll: bigint): Row => ({
      ...row(0, bankroll),
      time: new Date(END_S * 1000 + 600_000 + ms).toISOString(),
    });
    const now = at(0, 8n);
    expect(joined([...past, now], [at(300, 8n), at(900, 8n), at(1_100, 8n)], 'hour').slice(3)).toEqual([
      ...[at(900, 8n), at(1_100, 8n)],
    ]);
    const changed = [now, at(300, 9n), at(900, 8n)];
    expect(joined(past, changed, 'hour').slice(3)).toEqual(changed);
    // Absent for another reason counts as another value.
    const gone = { ...at(400, 8n), hwm: { base: null, reason: 'one' } };
    const other = { ...at(500, 8n), hwm: { base: null, reason: 'other' } };
    expect(joined(past, [gone, other], 'hour').slice(3)).toEqual([gone, other]);
  });
});
