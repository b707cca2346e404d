import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ActivityResponse } from '../../schemas/responses/activity.ts';
import type { FeesResponse } from '../../schemas/responses/fees.ts';
import type { HoldersResponse } from '../../schemas/responses/holders.ts';
import type { LoopResponse } from '../../schemas/responses/loop.ts';
import type { PostsResponse } from '../../schemas/responses/posts.ts';
import { isoTime } from '../../schemas/units.ts';
import { NOW, startApi, type TestApi } from './support/api.ts';
import {
  appliedRow,
  eventRow,
  gapRow,
  key,
  modelRow,
  policyRow,
  SLOT,
  signature,
  TIME,
  tokenAccountRow,
  totalsRow,
  venueAccountRow,
} from './support/rows.ts';
import { emptyStore } from './support/store.ts';

let engine: Awaited<ReturnType<typeof emptyStore>>;
let api: TestApi;
const mint = key('coin');
const MARKER = isoTime(TIME + 400);
const ASOF = isoTime(TIME);
const CLAIMS = 'indexer:fee_claims events';
const figure = (value: string, source: string, asOf: string) => ({ value, source, asOf });

beforeAll(async () => {
  engine = await emptyStore();
  api = await startApi(engine.store);
});
afterAll(async () => {
  await api.close();
  await engine.close();
});
beforeEach(async () => {
  await api.truncate(
    'policies',
    'venue_accounts',
    'token_accounts',
    'events',
    'events_by_slot',
    'policy_totals',
  );
  await api.truncate('applied', 'gaps', 'incomplete_transactions', 'transactions');
  api.at(NOW);
  await api.insert('policies', [policyRow('coin', 'usd')]);
  await api.insert('applied', [
    appliedRow('transactions', 0),
    appliedRow('accounts', 0, { slot: '2100', block_time: TIME + 450 }),
  ]);
});

const read = async <T>(path: string) => (await api.get<T>(`/coins/${mint}${path}`)).body;
const fees = () => read<FeesResponse>('/fees');
const loop = () => read<LoopResponse>('/loop');
const holders = () => read<HoldersResponse>('/holders');
const posts = (query = '') => read<PostsResponse>(`/posts${query}`);
const claim = (index: number, quote: string, base: string, change: object = {}) =>
  eventRow('coin', 'FeesClaimed', index, { amount_a: quote, amount_b: base, ...change });

describe('fees', () => {
  test('without events the sums are genuine zeros, as old as the lowest marker', async () => {
    const body = await fees();
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
    await api.insert('policy_totals', [
      totalsRow('coin', one),
      totalsRow('coin', { ...two, log_partition: 5 }),
    ]);
    const body = await fees();
    expect(body.quoteLeg.lifetimeFromEvents).toEqual(
      figure('36893488147419103230', CLAIMS, isoTime(TIME + 9)),
    );
    expect(body.baseLeg.lifetime).toEqual(figure('7', CLAIMS, isoTime(TIME + 9)));
    expect(body.claimCount.lifetime).toBe(3);
  });

  test('the window is (now − 24 h, now] by block time', async () => {
    const now = Math.floor(NOW / 1000);
    await api.insert('events', [
      claim(1, '1', '10', { block_time: now - 86_400 }),
      claim(2, '2', '20', { block_time: now - 86_399 }),
      claim(3, '4', '40', { block_time: now }),
      claim(4, '8', '80', { block_time: now + 1 }),
      claim(5, '16', '160', { block_time: null }),
    ]);
    const body = await fees();
    expect(body.quoteLeg.last24h).toEqual(figure('6', CLAIMS, isoTime(now)));
    expect(body.baseLeg.last24h).toEqual(figure('60', CLAIMS, isoTime(now)));
    expect(body.claimCount.last24h).toBe(2);
  });

  test('recent claims are at most 100, newest first, each once', async () => {
    const rows = Array.from({ length: 120 }, (_, index) => claim(index, String(index), '0'));
    await api.insert('events', rows);
    await api.insert('events', rows.slice(0, 50));
    const claims = (await fees()).recentClaims;
    expect(claims).toHaveLength(100);
    expect(claims[0]).toEqual({
      signature: signature('coin FeesClaimed 119'),
      slot: String(SLOT + 119n),
      block_time: ASOF,
      quoteAmount: '119',
      baseAmount: '0',
    });
    expect(claims.at(-1)?.quoteAmount).toBe('20');
  });
});

describe('loop', () => {
  test('every step is there in order, with the source of its figure', async () => {
    await api.insert('policy_totals', [
      totalsRow('coin', {
        fees_quote: '1',
        fees_base: '2',
        last_claim: TIME + 1,
        protocol_cut: '3',
        routed_to_lp: '4',
        routed_to_bankroll: '5',
        last_routed: TIME + 2,
        profit_to_holders: '6',
        profit_to_lp: '7',
        last_swept: TIME + 3,
        buyback_spent: '8',
        buyback_burned: '9',
        last_buyback: TIME + 4,
      }),
    ]);
    const bankroll = (policyRow('coin', 'usd') as Record<string, string>).bankroll as string;
    await api.insert('token_accounts', [tokenAccountRow(bankroll, '77')]);
    const { step3_lpCompounded, ...body } = await loop();
    const [claimed, routed, swept, bought] = [1, 2, 3, 4].map((seconds) => isoTime(TIME + seconds)) as [
      string,
      string,
      string,
      string,
    ];
    expect(Object.keys(await loop())).toEqual([
      'mint',
      'step1_feesClaimed',
      'step2_routed',
      'step3_lpCompounded',
      'step4_deployed',
      'step5_profit',
      'step6_buyback',
      'credit',
    ]);
    expect(body).toEqual({
      mint,
      step1_feesClaimed: { quoteLeg: figure('1', CLAIMS, claimed), baseLeg: figure('2', CLAIMS, claimed) },
      step2_routed: {
        protocolCut: figure('3', 'indexer:Routed events', routed),
        toLp: figure('4', 'indexer:Routed events', routed),
        toBankroll: figure('5', 'indexer:Routed events', routed),
      },
      step4_deployed: {
        local: figure('0', 'chain:getTokenAccountBalance', ASOF),
        remote: figure('0', 'chain:VenueAccount.remote_equity', ASOF),
        bankrollUnspent: figure('77', 'chain:getTokenAccountBalance', ASOF),
      },
      step5_profit: {
        hwm: figure('19', 'chain:Policy.hwm', ASOF),
        totalSwept: figure('15', 'chain:Policy.profit_swept', ASOF),
        toHoldersStaged: figure('6', 'indexer:ProfitSwept events', swept),
        toLpFromProfit: figure('7', 'indexer:ProfitSwept events', swept),
      },
      step6_buyback: {
        spent: figure('8', 'indexer:BuybackBurned events', bought),
        burned: figure('9', 'indexer:BuybackBurned events', bought),
      },
      credit: {
        spent: figure('18', 'chain:Policy.credit_spent', ASOF),
        returnPerCredit: figure('0.833333', 'computed', ASOF),
      },
    });
    expect(step3_lpCompounded).toMatchObject({ value: null, absent: true });
    expect(step3_lpCompounded.reason).toContain('compound_lp emits no event');
  });

  test('what is deployed counts unrevoked accounts, as old as the oldest of them', async () => {
    const local = { kind: 'Local', asset_class: 1 };
    await api.insert('venue_accounts', [
      venueAccountRow('coin', 'l1', local),
      venueAccountRow('coin', 'l2', local),
      venueAccountRow('coin', 'l3', { ...local, revoked: 1 }),
      venueAccountRow('coin', 'r1', { remote_equity: '5', remote_asof: TIME + 3 }),
      venueAccountRow('coin', 'r2', { remote_equity: '6', remote_asof: TIME + 2 }),
      venueAccountRow('coin', 'r3', { remote_equity: '9', remote_asof: TIME, revoked: 1 }),
    ]);
    await api.insert('token_accounts', [tokenAccountRow(key('l1'), '10')]);
    expect((await loop()).step4_deployed.local).toMatchObject({
      absent: true,
      reason: `not read yet: ${key('l2')}`,
    });
    await api.insert('token_accounts', [tokenAccountRow(key('l2'), '30', { block_time: TIME - 5 })]);
    const { local: sum, remote } = (await loop()).step4_deployed;
    expect(sum).toEqual(figure('40', 'chain:getTokenAccountBalance', isoTime(TIME - 5)));
    expect(remote).toEqual(figure('11', 'chain:VenueAccount.remote_equity', isoTime(TIME + 2)));
    await api.insert('venue_accounts', [venueAccountRow('coin', 'r4')]);
    expect((await loop()).step4_deployed.remote).toMatchObject({ value: null, absent: true });
  });

  test('the return per credit is absent while no credit is spent', async () => {
    await api.truncate('policies');
    await api.insert('policies', [policyRow('coin', 'usd', { credit_spent: '0' })]);
    expect((await loop()).credit).toMatchObject({
      spent: { value: '0' },
      returnPerCredit: { value: null, absent: true },
    });
  });
});

describe('while history is not complete', () => {
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

  test('every sum of events is absent with that reason and counts are null; chain figures stay', async () => {
    await api.insert('policy_totals', [totals]);
    await api.insert('gaps', [gapRow('999')]);
    const { lifetime, day, counts, chain } = await sums();
    for (const one of [...lifetime, ...day]) {
      expect(one).toMatchObject({ value: null, absent: true });
      expect(one.reason).toContain('slots 0 to 999 are not read yet');
    }
    expect(counts).toEqual({ lifetime: null, last24h: null });
    for (const one of chain) expect(one.absent).toBeUndefined();
  });

  test('24-hour figures are there once the gap ends before the window', async () => {
    await api.insert('events', [claim(1, '5', '0')]);
    await api.insert('gaps', [gapRow('999', { to_time: Math.floor(NOW / 1000) - 86_400 })]);
    const { lifetime, day, counts } = await sums();
    expect(lifetime.every((one) => one.absent === true)).toBe(true);
    expect(day[0]).toEqual(figure('5', CLAIMS, ASOF));
    expect(counts).toEqual({ lifetime: null, last24h: 1 });
    api.at(NOW - 1000);
    expect((await sums()).counts.last24h).toBeNull();
  });

  test('a gap is closed once every partition of transactions says so', async () => {
    await api.insert('applied', [appliedRow('transactions', 1)]);
    await api.insert('gaps', [gapRow('0', { closed: 1 })]);
    expect((await sums()).counts.lifetime).toBeNull();
    await api.insert('gaps', [gapRow('500', { log_partition: 1 })]);
    expect((await sums()).counts.lifetime).toBeNull();
    await api.insert('gaps', [gapRow('0', { log_partition: 1, log_offset: '2', closed: 1 })]);
    expect((await sums()).counts.lifetime).toBe(0);
  });

  test('before anything is applied nothing that sums events is told', async () => {
    await api.truncate('applied');
    expect((await sums()).lifetime[0]?.reason).toBe('nothing of the chain is indexed yet');
  });
});

describe('while a transaction is incomplete', () => {
  const row = policyRow('coin', 'usd') as Record<string, string>;
  const incomplete = { signature: signature('cut'), slot: '1500', block_time: TIME, reason: 'cut logs' };

  test('the event sums of its policies are absent, counts stay, and others keep theirs', async () => {
    await api.insert('policies', [policyRow('other', 'usd')]);
    await api.insert('incomplete_transactions', [{ ...incomplete, policies: [row.address] }]);
    const body = await fees();
    expect(body.quoteLeg.lifetimeFromEvents).toMatchObject({ absent: true });
    expect(body.quoteLeg.last24h).toMatchObject({ absent: true });
    expect(body.claimCount).toEqual({ lifetime: 0, last24h: 0 });
    const other = (await api.get<FeesResponse>(`/coins/${key('other')}/fees`)).body;
    expect(other.quoteLeg.lifetimeFromEvents).toEqual(figure('0', CLAIMS, MARKER));
  });

  test('a whole reading of it brings them back', async () => {
    await api.insert('incomplete_transactions', [{ ...incomplete, policies: [row.address] }]);
    await api.insert('transactions', [
      { signature: signature('cut'), slot: '1500', tx_index: 0, has_index: 1, block_time: TIME, failed: 0 },
    ]);
    expect((await fees()).quoteLeg.lifetimeFromEvents).toEqual(figure('0', CLAIMS, MARKER));
  });
});

describe('activity', () => {
  const activity = async (query = '') => read<ActivityResponse>(`/activity${query}`);

  test('items are newest first: by slot, index in the block, position', async () => {
    const at = (name: string, slot: string, tx_index: number, position: number) =>
      eventRow('coin', 'Routed', 0, {
        signature: signature(name),
        slot,
        tx_index,
        position,
        summary: `{"n":"${name}"}`,
      });
    await api.insert('events', [
      at('a', '9', 1, 0),
      at('b', '10', 0, 0),
      at('b', '10', 0, 1),
      at('c', '10', 7, 0),
    ]);
    const items = (await activity()).items;
    expect(items.map((item) => [item.summary.n, item.slot])).toEqual([
      ['c', '10'],
      ['b', '10'],
      ['b', '10'],
      ['a', '9'],
    ]);
    expect(items[0]).toEqual({
      kind: 'Routed',
      actor: 'keeper',
      summary: { n: 'c' },
      slot: '10',
      signature: signature('c'),
      block_time: ASOF,
    });
  });

  test('a reading that knows its index in the block replaces one that does not', async () => {
    const event = eventRow('coin', 'Routed', 1, { has_index: 0, tx_index: 5, block_time: null });
    await api.insert('events', [event]);
    await api.insert('events', [{ ...event, has_index: 1, tx_index: 2, block_time: TIME }]);
    await api.insert('events', [event]);
    expect((await activity()).items).toMatchObject([{ block_time: ASOF }]);
  });

  test.each([
    ['', 50, 0],
    ['?limit=0', 1, 0],
    ['?limit=201&offset=100001', 200, 100_000],
    ['?limit=-5&offset=-1', 1, 0],
    ['?limit=ten&offset=1.5', 50, 0],
    ['?limit=&offset=', 50, 0],
    ['?limit=7&offset=3&unknown=1', 7, 3],
    ['?limit=99999999999999999999999', 200, 0],
  ])('%s is answered with limit %i and offset %i', async (query, limit, offset) => {
    expect(await activity(query)).toEqual({ mint, limit, offset, items: [] });
  });

  test('pages do not overlap and miss nothing', async () => {
    await api.insert(
      'events',
      Array.from({ length: 25 }, (_, index) => claim(index, '1', '1')),
    );
    const slots: unknown[] = [];
    for (const offset of [0, 10, 20, 30]) {
      const { items } = await activity(`?limit=10&offset=${offset}`);
      slots.push(...items.map((item) => item.slot));
    }
    expect(slots).toEqual(Array.from({ length: 25 }, (_, index) => String(SLOT + BigInt(24 - index))));
  });
});

describe('holders', () => {
  test('burned and paid are the chain’s counters, distribution is never built', async () => {
    const body = await holders();
    expect(body).toMatchObject({
      mint,
      tokensBurned: figure('17', 'chain:Policy.tokens_burned', ASOF),
      paidToHoldersQuote: figure('16', 'chain:Policy.paid_to_holders', ASOF),
      paysHolders: true,
      distribution: { value: null, absent: true },
    });
    expect(body.distribution.reason).toContain('holder distribution is not built');
  });

  test('holders are paid where their share is above zero and nothing more', async () => {
    await api.truncate('policies');
    await api.insert('policies', [
      policyRow('coin', 'usd', { profit_to_holders_bps: 0, paid_to_holders: '5' }),
    ]);
    expect((await holders()).paysHolders).toBe(false);
  });
});

describe('posts', () => {
  test('without an agent side the feed is empty and says whose it would be', async () => {
    await api.insert('models', [modelRow(7, 'seven')]);
    expect(await posts('?limit=101&offset=x')).toMatchObject({
      mint,
      policy: {
        mode: 'Passive',
        agent: null,
        agentActive: false,
        risk: 50,
        model: { id: 0, name: null, provider: null, enabled: null },
        asOf: ASOF,
        source: 'chain:Policy account',
      },
      limit: 100,
      offset: 0,
      total: 0,
      hasMore: false,
      posts: [],
    });
    expect((await posts()).limit).toBe(20);
  });

  test.each([
    ['Passive', null, false],
    ['Passive', key('agent'), false],
    ['Agent', null, false],
    ['Agent', key('agent'), true],
  ])('in mode %s with agent %s the agent is active: %s', async (mode, agent, agentActive) => {
    await api.truncate('policies');
    await api.insert('policies', [policyRow('coin', 'usd', { mode, agent })]);
    expect((await posts()).policy).toMatchObject({ mode, agent, agentActive });
  });
});
