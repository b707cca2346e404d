import { describe, expect, test } from 'vitest';
import { fees } from '../../../api/coin/fees.ts';
import { coinAnswer } from '../../../api/coin/find.ts';
import type { FeesResponse } from '../../../schemas/responses/coin/fees.ts';
import { isoTime } from '../../../schemas/units.ts';
import { NOW, SETTINGS } from '../support/api.ts';
import { appliedRow, eventRow, key, policyRow, SLOT, signature, TIME, totalsRow } from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

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
const feesNow = () => read<FeesResponse>('/fees');
const claim = (index: number, quote: string, base: string, change: object = {}) =>
  eventRow('coin', 'FeesClaimed', index, { amount_a: quote, amount_b: base, ...change });

describe('fees', () => {
  test('without events the sums are present zeros with the time of the lowest marker', async () => {
    const body = await feesNow();
    expect(body.quoteLeg).toEqual({
      lifetime: figure('11', 'chain:Policy.fees_claimed', ASOF),
      lifetimeFromEvents: figure('0', CLAIMS, MARKER),
      last24h: figure('0', CLAIMS, MARKER),
    });
    expect(body.baseLeg).toMatchObject({
      lifetime: figure('0', CLAIMS, MARKER),
      last24h: figure('0', CLAIMS, MARKER),
    });
    expect(body.claimCount).toEqual({ lifetime: 0, last24h: 0 });
    expect(body.recentClaims).toEqual([]);
  });

  test('lifetime sums add up over the partitions of the log', async () => {
    const one = {
      fees_quote: '18446744073709551615',
      fees_base: '3',
      claim_count: '2',
      last_claim: TIME + 1,
    };
    const two = {
      fees_quote: '18446744073709551615',
      fees_base: '4',
      claim_count: '1',
      last_claim: TIME + 9,
    };
    await held.api.insert('policy_totals', [
      totalsRow('coin', one),
      totalsRow('coin', { ...two, log_partition: 5 }),
    ]);
    const body = await feesNow();
    expect(body.quoteLeg.lifetimeFromEvents).toEqual(
      figure('36893488147419103230', CLAIMS, isoTime(TIME + 9)),
    );
    expect(body.baseLeg.lifetime).toEqual(figure('7', CLAIMS, isoTime(TIME + 9)));
    expect(body.claimCount.lifetime).toBe(3);
  });

  test('the last 24 hours are the window (now − 24 h, now] by block time', async () => {
    const now = Math.floor(NOW / 1000);
    await held.api.insert('events', [
      claim(1, '1', '10', { block_time: now - 86_400 }),
      claim(2, '2', '20', { block_time: now - 86_399 }),
      claim(3, '4', '40', { block_time: now }),
      claim(4, '8', '80', { block_time: now + 1 }),
      claim(5, '16', '160', { block_time: null }),
    ]);
    const body = await feesNow();
    expect(body.quoteLeg.last24h).toEqual(figure('6', CLAIMS, isoTime(now)));
    expect(body.baseLeg.last24h).toEqual(figure('60', CLAIMS, isoTime(now)));
    expect(body.claimCount.last24h).toBe(2);
  });

  describe('with an incomplete transaction', () => {
    const now = Math.floor(NOW / 1000);
    const cut = (name: string, block_time: number | null, missing = 'any') => ({
      ...{ signature: signature(name), slot: '5', block_time, reason: 'cut' },
      ...{ policies: [policyRow('coin', 'usd').address, key('another')], missing: [missing] },
    });
    /** Whether the legs' sums are absent: the lifetime ones, and those of the last 24 hours. */
    const absent = async () => {
      const { quoteLeg, baseLeg } = await feesNow();
      const all = [quoteLeg.lifetimeFromEvents, baseLeg.lifetime];
      return [all, [quoteLeg.last24h, baseLeg.last24h]].map((legs) => legs.map((leg) => leg.absent ?? false));
    };
    const [NEITHER, BOTH] = [
      [false, false],
      [true, true],
    ];

    test('lifetime sums are absent, and those of the last 24 hours if the transaction may lie in them', async () => {
      for (const [time, lately] of [
        [now - 86_400, NEITHER],
        [now - 86_399, BOTH],
        [now + 30, BOTH],
        [null, BOTH],
      ] as const) {
        await held.api.insert('incomplete_transactions', [
          cut('long ago', now - 9_000_000),
          cut('cut', time),
        ]);
        expect(await absent(), String(time)).toEqual([BOTH, lately]);
        await held.api.truncate('incomplete_by_slot');
        expect(await absent()).toEqual([NEITHER, NEITHER]);
      }
    });

    test('24-hour sums return in the second in which the newest transaction lacking the amount leaves them', async () => {
      await held.api.insert('incomplete_transactions', [
        cut('base', now - 86_000, 'FeesClaimed.baseAmount'),
        ...[cut('older', now - 85_900, 'FeesClaimed'), cut('newer', now - 85_800, 'FeesClaimed')],
        cut('another kind', now, 'Routed'),
      ]);
      const answer = coinAnswer({ latest: held.api.latest, settings: SETTINGS, readPosts: null }, fees);
      const context = { params: { mint }, query: new URLSearchParams() };
      for (const [later, lately, until] of [
        [0, BOTH, 400],
        [599, BOTH, 600],
        [600, NEITHER, Number.POSITIVE_INFINITY],
      ] as const) {
        held.api.at(NOW + later * 1000);
        expect(await absent(), `${later} s later`).toEqual([BOTH, lately]);
        const made = await held.api.latest.read((view) => answer(context, view));
        expect(made.until, `${later} s later`).toBe(NOW + until * 1000);
      }
    });

    test('the 24-hour sums of quote and base amounts return independently', async () => {
      await held.api.insert('incomplete_transactions', [
        cut('base', now - 86_000, 'FeesClaimed.baseAmount'),
        cut('quote', now - 85_000, 'FeesClaimed.quoteAmount'),
      ]);
      const at = async (later: number) => {
        held.api.at(NOW + later * 1000);
        return absent();
      };
      expect(await at(399)).toEqual([BOTH, BOTH]);
      expect(await at(400)).toEqual([BOTH, [true, false]]);
      expect(await at(1_400)).toEqual([BOTH, NEITHER]);
    });
  });

  test('recent claims are at most 100, newest first, each once', async () => {
    const rows = Array.from({ length: 120 }, (_, index) => claim(index, String(index), '0'));
    await held.api.insert('events', rows);
    await held.api.insert('events', rows.slice(0, 50));
    const claims = (await feesNow()).recentClaims;
    expect(claims).toHaveLength(100);
    expect(claims[0]).toEqual({
      signature: signature('coin FeesClaimed 119'),
      slot: String(SLOT + 119n),
      block_time: ASOF,
      quoteAmount: '119',
      baseAmount: '0',
    });
    expect(claims.at(-1)?.quoteAmount).toBe('20');
    // For a policy with many events claims are read by another query.
    await held.api.insert('policy_totals', [totalsRow('coin', { claim_count: '120', event_count: '20001' })]);
    expect((await feesNow()).recentClaims).toEqual(claims);
    expect(held.api.queries("PREWHERE mint = {mint:String} AND kind = 'FeesClaimed'")).toBe(1);
  });
});
