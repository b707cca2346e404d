import { describe, expect, test } from 'vitest';
import type { ActivityResponse } from '../../../schemas/responses/coin/activity.ts';
import type { HoldersResponse } from '../../../schemas/responses/coin/holders.ts';
import type { PostsResponse } from '../../../schemas/responses/coin/posts.ts';
import { isoTime } from '../../../schemas/units.ts';
import {
  appliedRow,
  eventRow,
  key,
  modelRow,
  policyRow,
  SLOT,
  signature,
  TIME,
  totalsRow,
} from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('policies', [policyRow('coin', 'usd')]);
  await api.insert('applied', [
    appliedRow('transactions', 0),
    appliedRow('accounts', 0, { slot: '2100', block_time: TIME + 450 }),
  ]);
});
const mint = key('coin');
const ASOF = isoTime(TIME);
const figure = (value: string, source: string, asOf: string) => ({ value, source, asOf });
const read = async <T>(path: string) => (await held.api.get<T>(`/coins/${mint}${path}`)).body;
const holders = () => read<HoldersResponse>('/holders');
const posts = (query = '') => read<PostsResponse>(`/posts${query}`);
const claim = (index: number, quote: string, base: string, change: object = {}) =>
  eventRow('coin', 'FeesClaimed', index, { amount_a: quote, amount_b: base, ...change });

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
    await held.api.insert('events', [
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

  test('the pages of a policy are the same whether it has few events or counts a million', async () => {
    const events = Array.from({ length: 30 }, (_, index) => eventRow('coin', 'Routed', index));
    await held.api.insert('events', events);
    const pages = () =>
      Promise.all(['?limit=10', '?limit=10&offset=15', '?limit=10&offset=25'].map(activity));
    const few = await pages();
    await held.api.insert('policy_totals', [totalsRow('coin', { event_count: '1000000' })]);
    expect(await pages()).toEqual(few);
    expect(few.map(({ items }) => items.length)).toEqual([10, 10, 5]);
  });

  test('a derived event is marked as derived until a complete reading replaces it', async () => {
    const derived = eventRow('coin', 'Routed', 1, { position: 32_768, summary: '{"toLp":"5"}' });
    await held.api.insert('events', [derived]);
    expect((await activity()).items).toMatchObject([
      { kind: 'Routed', summary: { toLp: '5' }, derived: true },
    ]);
    const gone = { ...derived, has_index: 2, kind: '', actor: '', summary: '{}' };
    await held.api.insert('events', [gone, { ...derived, position: 0 }]);
    const { items } = await activity();
    expect(items).toHaveLength(1);
    expect(items[0]).not.toHaveProperty('derived');
  });

  test('an event with its index in the block replaces the same event without one, in any order', async () => {
    const event = eventRow('coin', 'Routed', 1, { has_index: 0, tx_index: 5, block_time: null });
    await held.api.insert('events', [event]);
    await held.api.insert('events', [{ ...event, has_index: 1, tx_index: 2, block_time: TIME }]);
    await held.api.insert('events', [event]);
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

  test('consecutive pages do not overlap and miss no event', async () => {
    await held.api.insert(
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
  test('burned and paid amounts are the policy’s counters, and the distribution is always absent', async () => {
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

  test('paysHolders is false while the holders’ share is zero, whatever was paid before', async () => {
    await held.api.truncate('policies');
    await held.api.insert('policies', [
      policyRow('coin', 'usd', { profit_to_holders_bps: 0, paid_to_holders: '5' }),
    ]);
    expect((await holders()).paysHolders).toBe(false);
  });
});

describe('posts', () => {
  test('an API without a store of posts serves an empty feed, with the policy, its mode and model', async () => {
    await held.api.insert('models', [modelRow(7, 'seven')]);
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
    await held.api.truncate('policies');
    await held.api.insert('policies', [policyRow('coin', 'usd', { mode, agent })]);
    expect((await posts()).policy).toMatchObject({ mode, agent, agentActive });
  });
});
