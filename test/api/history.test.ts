import { describe, expect, test } from 'vitest';
import type { FeesResponse } from '../../schemas/responses/coin/fees.ts';
import type { LoopResponse } from '../../schemas/responses/coin/loop.ts';
import { DAY_S, HOUR_S, isoTime } from '../../schemas/units.ts';
import { NOW } from './support/api.ts';
import { appliedRow, eventRow, gapRow, key, policyRow, signature, TIME, totalsRow } from './support/rows.ts';
import { useApi } from './support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('policies', [policyRow('coin', 'usd')]);
  await api.insert('applied', [
    appliedRow('transactions', 0),
    appliedRow('accounts', 0, { slot: '2100', block_time: TIME + 450 }),
  ]);
});
const mint = key('coin');
const MARKER = isoTime(TIME + 400);
const ASOF = isoTime(TIME);
const CLAIMS = 'indexer:fee_claims events';
const figure = (value: string, source: string, asOf: string) => ({ value, source, asOf });
const read = async <T>(path: string) => (await held.api.get<T>(`/coins/${mint}${path}`)).body;
const fees = () => read<FeesResponse>('/fees');
const loop = () => read<LoopResponse>('/loop');
const claim = (index: number, quote: string, base: string, change: object = {}) =>
  eventRow('coin', 'FeesClaimed', index, { amount_a: quote, amount_b: base, ...change });

describe('fees and loop while history is not complete', () => {
  const totals = totalsRow('coin', { fees_quote: '1', claim_count: '1', last_claim: TIME });
  const sums = async () => {
    const [feesBody, loopBody] = [await fees(), await loop()];
    return {
      lifetime: [
        feesBody.quoteLeg.lifetimeFromEvents,
        feesBody.baseLeg.lifetime,
        loopBody.step1_feesClaimed.quoteLeg,
        loopBody.step2_routed.toLp,
        loopBody.step5_profit.toLpFromProfit,
        loopBody.step6_buyback.spent,
      ],
      day: [feesBody.quoteLeg.last24h, feesBody.baseLeg.last24h],
      counts: feesBody.claimCount,
      chain: [feesBody.quoteLeg.lifetime, loopBody.step5_profit.hwm],
    };
  };

  test('every sum of events is absent and names the unread slots, counts are null, chain figures are present', async () => {
    await held.api.insert('policy_totals', [totals]);
    await held.api.insert('gaps', [gapRow('999')]);
    const { lifetime, day, counts, chain } = await sums();
    for (const one of [...lifetime, ...day]) {
      expect(one).toMatchObject({ value: null, absent: true });
      expect(one.reason).toContain('slots 0 to 999 are not read yet');
    }
    expect(counts).toEqual({ lifetime: null, last24h: null });
    for (const one of chain) expect(one.absent).toBeUndefined();
  });

  test('24-hour figures are present as long as the gap ends before the 24-hour window', async () => {
    await held.api.insert('events', [claim(1, '5', '0')]);
    await held.api.insert('gaps', [gapRow('999', { to_time: Math.floor(NOW / 1000) - 86_400 })]);
    const { lifetime, day, counts } = await sums();
    expect(lifetime.every((one) => one.absent === true)).toBe(true);
    expect(day[0]).toEqual(figure('5', CLAIMS, ASOF));
    expect(counts).toEqual({ lifetime: null, last24h: 1 });
    held.api.at(NOW - 1000);
    expect((await sums()).counts.last24h).toBeNull();
  });

  test('24-hour figures beside a gap without a time are present once an hour begun after it precedes the window', async () => {
    const hour = Math.floor((NOW / 1000 - DAY_S) / HOUR_S);
    const begins = (at: number, slot: string) =>
      held.api.insert('hour_slots', [{ hour: at, slot, before: String(2n ** 64n - 1n - BigInt(slot)) }]);
    await held.api.insert('events', [claim(1, '5', '0')]);
    await held.api.insert('gaps', [gapRow('999'), gapRow('2000', { from_slot: '2000' })]);
    await begins(hour - 1, '1999');
    expect((await sums()).day[0]).toMatchObject({ value: null, absent: true });
    await begins(hour, '2000');
    held.api.at((hour + 1 + DAY_S / HOUR_S) * HOUR_S * 1000 - 1);
    expect((await sums()).counts.last24h).toBeNull();
    held.api.at((hour + 1 + DAY_S / HOUR_S) * HOUR_S * 1000);
    const { lifetime, counts } = await sums();
    expect(lifetime.every((one) => one.absent === true)).toBe(true);
    expect(counts).toEqual({ lifetime: null, last24h: 1 });
  });

  test('24-hour figures are absent until every partition of transactions has recorded the gap', async () => {
    const before = { to_time: Math.floor(NOW / 1000) - 86_400 };
    await held.api.insert('events', [claim(1, '5', '0')]);
    await held.api.insert('applied', [appliedRow('transactions', 1)]);
    await held.api.insert('gaps', [gapRow('999', before)]);
    expect((await sums()).day[0]).toMatchObject({ value: null, absent: true });
    await held.api.insert('gaps', [gapRow('999', { ...before, log_partition: 1 })]);
    expect((await sums()).day[0]).toEqual(figure('5', CLAIMS, ASOF));
  });

  test('a gap counts as closed once every partition of transactions has recorded it as closed', async () => {
    await held.api.insert('applied', [appliedRow('transactions', 1)]);
    await held.api.insert('gaps', [gapRow('0', { closed: 1 })]);
    expect((await sums()).counts.lifetime).toBeNull();
    await held.api.insert('gaps', [gapRow('500', { log_partition: 1 })]);
    expect((await sums()).counts.lifetime).toBeNull();
    await held.api.insert('gaps', [gapRow('0', { log_partition: 1, log_offset: '2', closed: 1 })]);
    expect((await sums()).counts.lifetime).toBe(0);
  });

  test('before anything is applied, lifetime fees from events are absent: nothing is indexed yet', async () => {
    await held.api.truncate('applied');
    expect((await sums()).lifetime[0]?.reason).toBe('nothing of the chain is indexed yet');
  });
});

describe('fees and loop while a transaction is incomplete', () => {
  const row = policyRow('coin', 'usd') as Record<string, string>;
  const incomplete = { signature: signature('cut'), slot: '1500', block_time: TIME, reason: 'cut logs' };

  test('event sums of its policies are absent, claim counts stay, and other policies keep their sums', async () => {
    await held.api.insert('policies', [policyRow('other', 'usd')]);
    await held.api.insert('incomplete_transactions', [{ ...incomplete, policies: [row.address] }]);
    const body = await fees();
    expect(body.quoteLeg.lifetimeFromEvents).toMatchObject({ absent: true });
    expect(body.quoteLeg.last24h).toMatchObject({ absent: true });
    expect(body.claimCount).toEqual({ lifetime: 0, last24h: 0 });
    const other = (await held.api.get<FeesResponse>(`/coins/${key('other')}/fees`)).body;
    expect(other.quoteLeg.lifetimeFromEvents).toEqual(figure('0', CLAIMS, MARKER));
  });

  test('only sums that the transaction may lack are absent, and the reason says why it is incomplete', async () => {
    const policies = [row.address];
    await held.api.insert('incomplete_transactions', [
      { ...incomplete, policies, missing: ['Routed', 'FeesClaimed.baseAmount'] },
    ]);
    const { quoteLeg, baseLeg } = await fees();
    expect(quoteLeg.lifetimeFromEvents).toEqual(figure('0', CLAIMS, MARKER));
    expect(baseLeg.lifetime.reason).toContain('the logs of a transaction of this policy were cut');
    const { step1_feesClaimed: claimed, step2_routed, step5_profit, step6_buyback } = await loop();
    for (const lacking of [claimed.baseLeg, ...Object.values(step2_routed)])
      expect(lacking.reason).toContain('the logs of a transaction of this policy were cut');
    const known = [claimed.quoteLeg, step5_profit.toHoldersStaged, step6_buyback.spent];
    expect(known.map(({ value }) => value)).toEqual(['0', '0', '0']);
    await held.api.insert('incomplete_transactions', [{ ...incomplete, policies, missing: ['undecoded'] }]);
    expect((await fees()).quoteLeg.lifetimeFromEvents.reason).toBe(
      'an event of a transaction of this policy does not decode',
    );
    await held.api.insert('incomplete_transactions', [{ ...incomplete, policies, missing: ['unreadable'] }]);
    expect((await fees()).quoteLeg.lifetimeFromEvents.reason).toBe(
      'a transaction of this policy cannot be read',
    );
    await held.api.insert('incomplete_transactions', [{ ...incomplete, policies: [], missing: [] }]);
    expect((await fees()).baseLeg.lifetime).toEqual(figure('0', CLAIMS, MARKER));
  });

  test('event sums are present again once the transaction was read completely', async () => {
    await held.api.insert('incomplete_transactions', [{ ...incomplete, policies: [row.address] }]);
    await held.api.insert('transactions', [
      { signature: signature('cut'), slot: '1500', tx_index: 0, has_index: 1, block_time: TIME, failed: 0 },
    ]);
    expect((await fees()).quoteLeg.lifetimeFromEvents).toEqual(figure('0', CLAIMS, MARKER));
  });
});
