import { beforeEach, describe, expect, test } from 'vitest';
import type { AnalyticsResponse } from '../../schemas/responses/analytics.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { isoTime } from '../../schemas/units.ts';
import { NOW } from './support/api.ts';
import { appliedRow, dayRow, eventRow, key, TIME } from './support/rows.ts';
import { useApi } from './support/use-api.ts';

const held = useApi();
const analytics = async () => (await held.api.get<AnalyticsResponse>('/analytics')).body;

beforeEach(async () => {
  await held.api.insert('applied', [appliedRow('transactions', 0)]);
});

describe('an event without a block time', () => {
  const DAY = 86_400;
  const noon = Date.UTC(2026, 8, 21, 12) / 1000;
  const SPAN = 512;
  const undated = async (earliest: number, latest: number, number = 1) => {
    const run = (span: number, at: number) => ({
      ...{ span: String(span), kind: 'CreditNoted', actor: 'agent', log_partition: 0, log_offset: '1' },
      ...{ event_count: '1', first_event: at, last_event: at },
    });
    await held.api.insert('kind_spans', [run(9, earliest), run(11, latest)]);
    const event = eventRow('m', 'Routed', number, {
      ...{ block_time: null, slot: String(10 * SPAN + 5), quote_mint: key('usd'), amount_c: '700' },
    });
    const { slot, signature: of, position } = event;
    await held.api.insert('undated_events', [{ slot, signature: of, position }]);
    await held.api.insert('events', [event]);
    return event;
  };

  test('counts towards the day of its neighbours if both are of the same day', async () => {
    await undated(noon - 60, noon + 60);
    await held.api.insert('quote_days', [dayRow('2026-09-21', 'usd')]);
    const [day, ...others] = (await analytics()).revenueByDayTimeSeries;
    expect(others).toEqual([]);
    expect(day).toMatchObject({
      day: '2026-09-21',
      routedToLp: { value: '701' },
      profitSwept: { value: '4' },
    });
    expect(day?.byQuote).toMatchObject([{ routedToLp: { value: '701' } }]);
  });

  test('makes the keeper’s count of its kind null if it may be of the last 24 hours', async () => {
    const now = NOW / 1000;
    const { kind } = await undated(now - 2 * DAY, now - 60);
    const { keeper } = (await held.api.get<StatusResponse>('/status')).body;
    const countAbsentReason = 'the block time of an event that may be of the last 24 hours is not known';
    expect(keeper.last24h).toEqual([{ kind, count: null, countAbsentReason, lastAt: null }]);
  });

  test('leaves its sum without a time if no event of the day has one', async () => {
    await undated(noon - 60, noon + 60);
    const [day] = (await analytics()).revenueByDayTimeSeries;
    expect(day).toMatchObject({
      day: '2026-09-21',
      routedToLp: { value: '700', asOf: null },
      profitSwept: { value: '0', asOf: isoTime(TIME + 400) },
      byQuote: [{ routedToLp: { value: '700', asOf: null } }],
    });
  });

  test('makes its sum absent on both days if its neighbours are of different days', async () => {
    await undated(noon, noon + DAY, 2);
    await held.api.insert('quote_days', [
      dayRow('2026-09-20', 'usd'),
      dayRow('2026-09-21', 'usd'),
      dayRow('2026-09-22', 'usd'),
    ]);
    const series = (await analytics()).revenueByDayTimeSeries;
    expect(series.map(({ routedToLp }) => routedToLp.absent ?? false)).toEqual([false, true, true]);
    expect(series[1]?.routedToLp.reason).toContain('the block time of an event');
    expect(series.map(({ profitSwept }) => profitSwept.value)).toEqual(['4', '4', '4']);
  });

  test('once dated, makes its day’s sum absent until the stored sum has it, even on a day without other events', async () => {
    const event = await undated(noon - 60, noon + 60, 3);
    await held.api.insert('quote_days', [dayRow('2026-09-20', 'usd'), dayRow('2026-09-21', 'usd')]);
    const told = { ...event, block_time: noon + DAY };
    await held.api.insert('events', [told]);
    const series = (await analytics()).revenueByDayTimeSeries;
    expect(series).toMatchObject([
      { day: '2026-09-20', routedToLp: { value: '1' } },
      { day: '2026-09-21', routedToLp: { value: '1' } },
      { day: '2026-09-22', routedToLp: { absent: true }, profitSwept: { value: '0' } },
    ]);
    expect(series[2]?.routedToLp.reason).toContain('not summed up yet');
    const { slot, signature: of, position } = event;
    await held.api.insert('dated_events', [{ slot, signature: of, position }]);
    await held.api.insert('quote_days', [
      dayRow('2026-09-22', 'usd', { routed_to_lp: '700', log_offset: '9' }),
    ]);
    expect((await analytics()).revenueByDayTimeSeries[2]).toMatchObject({
      day: '2026-09-22',
      routedToLp: { value: '700' },
    });
  });
});
