import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { coin } from '../../../api/coin/coin.ts';
import { type Coin, coinFinder } from '../../../api/coin/find.ts';
import { createHandOver } from '../../../api/latest/feed.ts';
import { createLatest } from '../../../api/latest/latest.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import type { Rows } from '../../../api/latest/ranked/apply.ts';
import { startBuild } from '../../../api/latest/ranked/build.ts';
import type { RankedSelection } from '../../../api/latest/ranked/ranking.ts';
import type { RankedRow } from '../../../api/latest/ranked/row.ts';
import type { View } from '../../../api/latest/view.ts';
import { rankingPage } from '../../../api/rankings/rankings.ts';
import { watchFolding } from '../../../api/serve.ts';
import { warmUp } from '../../../api/warm-up.ts';
import { type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import type { EventRow } from '../../../clickhouse/tables.ts';
import { RetryableError } from '../../../runtime/errors.ts';
import { perSumSort, SUM_KEYS, SUM_SORTS } from '../../../schemas/responses/rankings.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { countKinds, SETTINGS } from '../support/api.ts';
import {
  appliedRow,
  eventRow,
  key,
  LAUNCHPAD,
  mintRow,
  policyRow,
  poolRow,
  TIME,
  tokenAccountRow,
  totalsRow,
} from '../support/rows.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
  await store.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
  await store.insert('policies', [
    policyRow('first', 'quote', { profit_swept: '20' }),
    policyRow('second', 'quote', { profit_swept: '10' }),
  ]);
});
afterAll(() => store.close());

const RICHEST: RankedSelection = {
  ...{ sort: 'profit', order: 'desc', limit: 1, offset: 0, quote: key('quote') },
  ...{ mode: null, origin: null, model: null, locked: null, paused: null, search: null },
  ...{ launchpad: encodeBase58(LAUNCHPAD), rates: [], window: null, undated: [] },
  ...{ sumsKnown: true, withoutSum: perSumSort(() => new Set<string>()) },
};

const richest = (view: View): string | undefined => {
  const ranked = view.ranked({ launchpad: encodeBase58(LAUNCHPAD) });
  return ranked === null || ranked === 'engine' ? undefined : ranked.page(RICHEST).rows[0]?.address;
};

test('a kept ranking page that is only checked, not made again, is invalidated by a change of its order', async () => {
  const handOver = createHandOver();
  let now = 0;
  const memory = createMemory({
    ...{ store, feed: handOver, maxBytes: 10_000_000 },
    ...{ clock: Date.now, monotonic: () => now },
  });
  const made = await memory.read(richest);
  expect(made.value).toBe(policyRow('first', 'quote').address);
  now = 30_000;
  expect(memory.holds(made)).toBe(true);
  const state = { slot: '9000', version: String(9_000n << 64n) };
  const rich = policyRow('second', 'quote', { profit_swept: '30', ...state });
  const changes: Changes = new Map();
  await store.insert('policies', [rich]);
  noteRows(changes, 'policies', [rich]);
  handOver.note(changes);
  await memory.turn();
  expect(memory.holds(made)).toBe(false);
  expect((await memory.read(richest)).value).toBe(rich.address);
});

test('once there are too many policies for memory, it keeps none of them and leaves rankings to the engine', async () => {
  const handOver = createHandOver();
  const memory = createMemory({
    ...{ store, feed: handOver, maxBytes: 10_000_000, mostRanked: 2 },
    ...{ clock: Date.now, monotonic: () => 0 },
  });
  const looked = (view: View): RankedRow | 'engine' | undefined => {
    const ranked = view.ranked({ launchpad: encodeBase58(LAUNCHPAD) });
    return ranked === null || ranked === 'engine' ? (ranked ?? undefined) : ranked.page(RICHEST).rows[0];
  };
  const made = await memory.read(looked);
  expect(made.value).toMatchObject({ stamp: expect.any(Number) });
  const changes: Changes = new Map();
  const third = policyRow('third', 'quote');
  await store.insert('policies', [third]);
  noteRows(changes, 'policies', [third]);
  handOver.note(changes);
  await memory.turn();
  expect(memory.holds(made)).toBe(false);
  expect((await memory.read(looked)).value).toBe('engine');
  expect((made.value as RankedRow).stamp).toBeNaN();
});

test.each(SUM_SORTS)(
  'a policy of which only the sums change takes its new place in the order of %s',
  async (sort) => {
    const handOver = createHandOver();
    const memory = createMemory({
      ...{ store, feed: handOver, maxBytes: 10_000_000 },
      ...{ clock: Date.now, monotonic: () => 0 },
    });
    const highest = (view: View): string | undefined => {
      const ranked = view.ranked({ launchpad: encodeBase58(LAUNCHPAD) });
      if (ranked === null || ranked === 'engine') return undefined;
      return ranked.page({ ...RICHEST, sort }).rows[0]?.mint;
    };
    for (const [name, step] of [['first', 1] as const, ['second', 2] as const, ['first', 3] as const]) {
      const amount = String(10 * SUM_SORTS.indexOf(sort) + step);
      const row = totalsRow(name, { [SUM_KEYS[sort].column]: amount, log_offset: amount });
      const changes: Changes = new Map();
      await store.insert('policy_totals', [row]);
      noteRows(changes, 'policy_totals', [row]);
      handOver.note(changes);
      await memory.turn();
      expect((await memory.read(highest)).value).toBe(key(name));
    }
  },
);

test('policies read stretch by stretch equal those read at once, with all that a ranking shows', async () => {
  const names = ['first', 'second', 'third', 'fourth', 'fifth'];
  await store.insert(
    'policies',
    names.slice(2).map((name) => policyRow(name, 'quote')),
  );
  await store.insert(
    'pools',
    names.map((name, at) => poolRow(name, at === 3 ? 'other' : 'quote')),
  );
  await store.insert(
    'token_accounts',
    names.map((name, at) => tokenAccountRow(String(policyRow(name, 'quote').bankroll), String(at))),
  );
  await store.insert(
    'policy_totals',
    names.map((name, at) => totalsRow(name, { routed: String(at) })),
  );
  await store.insert(
    'mints',
    names.map((name) => mintRow(name, 6, { name, symbol: name, uri: '' })),
  );
  const events = names.map((name, at) => eventRow(name, 'Routed', at)) as unknown as EventRow[];
  await store.insert('events', events);
  await countKinds(store, events);
  const built = async (piece: number, of = store) => {
    const build = startBuild(of, { launchpad: encodeBase58(LAUNCHPAD) }, (TIME + 60) * 1000, 100, piece);
    await build.done;
    const { rows } = build.result as { rows: Rows };
    const byKey = (one: string, other: string) => (one < other ? -1 : 1);
    const told = (map: ReadonlyMap<string, RankedRow>) =>
      [...map]
        .sort(([one], [other]) => byKey(one, other))
        // `number` is the order in which they came, which may differ.
        .map(([name, { number: _, ...row }]) => [name, row]);
    expect(new Set([...rows.byMint.values()].map(({ number }) => number)).size).toBe(rows.byMint.size);
    return [rows.byAddress, rows.byMint, rows.byBankroll, rows.byPool].map(told);
  };
  const whole = await built(100);
  expect(whole.map((part) => part.length)).toEqual([5, 5, 5, 4]);
  const first = new Map(whole[1] as [string, RankedRow][]).get(key('first'));
  for (const shown of Object.values(first?.shown ?? { none: null })) expect(shown).not.toBeNull();
  for (const piece of [1, 2, 4]) expect(await built(piece)).toEqual(whole);
  const backwards: Store = {
    ...store,
    lines: async (sql, params) => {
      const [names, ...rows] = (await store.lines(sql, params)).trimEnd().split('\n');
      return [names, ...rows.reverse()].join('\n');
    },
  };
  expect(await built(4, backwards)).toEqual(whole);
});

test('the warm-up reads all policies before any request, as soon as the store is reached', async () => {
  let tries = 0;
  const latest = createLatest({
    currentStore: () => {
      tries += 1;
      if (tries === 1) throw new RetryableError('the database is not connected yet');
      return store;
    },
    clock: Date.now,
    handOver: createHandOver(),
  });
  const registry = new Registry();
  watchFolding(latest, registry);
  const isFolding = async () => (await registry.getSingleMetric('api_folding')?.get())?.values[0]?.value;
  expect(await isFolding()).toBe(0);
  await warmUp(latest, SETTINGS, new AbortController().signal);
  expect(await isFolding()).toBe(0);
  const query = new URLSearchParams();
  const page = latest.readNow((view) => rankingPage(view, SETTINGS, query))?.value;
  expect(page?.total).toBe(5);
  const find = coinFinder({ settings: SETTINGS });
  for (const { mint } of page?.items ?? []) {
    const made = latest.readNow((view) => coin(find({ params: { mint }, query }, view) as Coin));
    expect(made?.value.mint).toBe(mint);
  }
});
