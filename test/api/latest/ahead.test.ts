import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHandOver } from '../../../api/latest/feed.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import type { RankedSelection } from '../../../api/latest/ranked/ranking.ts';
import type { View } from '../../../api/latest/view.ts';
import { ANY, type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { perSumSort } from '../../../schemas/responses/rankings.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { insertWritten } from '../../support/written.ts';
import { countKinds } from '../support/api.ts';
import {
  appliedRow,
  eventRow,
  key,
  LAUNCHPAD,
  mintRow,
  policyRow,
  poolKey,
  poolRow,
  tokenAccountRow,
  totalsRow,
  venueAccountRow,
} from '../support/rows.ts';

const NAMES = Array.from({ length: 30 }, (_, at) => `coin ${at}`);
const policies = [...NAMES, 'new'].map((name) => policyRow(name, 'quote'));

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
  await store.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
  await store.insert('policies', policies.slice(0, -1));
  const accounts = policies.flatMap((row) => [row.bankroll, row.quote_escrow, row.base_escrow]);
  const local = NAMES.map((name) => `local of ${name}`);
  await store.insert('token_accounts', [
    ...accounts.map((address) => tokenAccountRow(address as string, '7')),
    ...local.map((name) => tokenAccountRow(key(name), '8')),
  ]);
  await insertWritten(
    store,
    'venue_accounts',
    NAMES.map((name) => venueAccountRow(name, `local of ${name}`, { kind: 'Local' })),
  );
  await store.insert(
    'pools',
    [...NAMES, 'new'].map((name) => poolRow(name, 'quote')),
  );
  await store.insert(
    'mints',
    NAMES.map((name) => mintRow(name, 6, { name, symbol: 'C', uri: '' })),
  );
});
afterAll(() => store.close());

const later = (slot: bigint) => ({ slot: String(slot), version: String(slot << 64n) });

const RICHEST: RankedSelection = {
  ...{ sort: 'profit', order: 'desc', limit: 1, offset: 0, quote: key('quote') },
  ...{ mode: null, origin: null, model: null, locked: null, paused: null, search: null },
  ...{ launchpad: encodeBase58(LAUNCHPAD), rates: [], window: null, undated: [] },
  ...{ sumsKnown: true, withoutSum: perSumSort(() => new Set<string>()) },
};

/** @param behind called after each query */
function watched(behind: (sql: string) => Promise<void> = async () => {}) {
  const asked: string[] = [];
  const handOver = createHandOver();
  let now = 0;
  // Queries on connections of their own are watched too.
  const { aside: _, ...alone } = store;
  const query: Store['query'] = async (sql, params) => {
    asked.push(sql);
    const rows = await store.query<never>(sql, params);
    await behind(sql);
    return rows;
  };
  const lines: Store['lines'] = async (sql, params) => {
    asked.push(sql);
    const text = await store.lines(sql, params);
    await behind(sql);
    return text;
  };
  const memory = createMemory({
    ...{ store: { ...alone, query, lines }, feed: handOver, maxBytes: 10_000_000 },
    ...{ clock: Date.now, monotonic: () => now },
  });
  return { asked, memory, handOver, pass: (ms: number) => (now += ms) };
}

/** What an answer about a policy is made of. */
const read = (at: number) => (view: View) => {
  const policy = view.get('policy', (policies[at] as { address: string }).address);
  if (policy === undefined) return null;
  const venues = view.get('venueAccounts', policy.address);
  const accounts = [policy.bankroll, policy.quote_escrow, ...venues.map((row) => row.token_account)];
  const amounts = accounts.map((address) => view.get('tokenAccount', address)?.amount);
  const pool = view.get('pool', poolKey(NAMES[at] ?? 'new', 'quote'));
  return {
    ...{ amounts, paused: policy.paused, pool: pool?.status },
    name: view.get('mint', policy.mint)?.name,
    events: view.get('eventsOfDay', policy.mint).row.count,
  };
};

test('a request for one policy also has everything read that answers about the others are made of', async () => {
  const { asked, memory } = watched();
  const first = await memory.read(read(0));
  expect(first.value).toEqual({ name: 'coin 0', amounts: ['7', '7', '8'], paused: 0, pool: 0, events: 0 });
  const before = asked.length;
  for (const at of NAMES.keys())
    expect((await memory.read(read(at))).value).toEqual({ ...first.value, name: `coin ${at}` });
  expect(asked.length).toBe(before);
});

test('rows that a turn began to read ahead are in memory though the turn fails', async () => {
  let fails = false;
  const { asked, memory, handOver } = watched(async (sql) => {
    if (fails && sql.includes('FROM applied AS a')) throw new Error('reset by peer');
  });
  await memory.turn();
  handOver.applied();
  fails = true;
  await expect(memory.read(read(0))).rejects.toThrow('reset by peer');
  fails = false;
  await memory.read(read(0));
  const before = asked.length;
  for (const at of NAMES.keys())
    expect((await memory.read(read(at))).value).toMatchObject({ name: `coin ${at}` });
  expect(asked.length).toBe(before);
});

test('a request for a policy that does not exist causes no query', async () => {
  const { asked, memory } = watched();
  await memory.read(read(0));
  const before = asked.length;
  expect((await memory.read((view) => view.get('policy', key('nobody')) ?? null)).value).toBe(null);
  expect(asked.length).toBe(before);
});

test('once one of several later policies is asked for, what the others need is read ahead, too', async () => {
  const { asked, memory, handOver, pass } = watched();
  await memory.read((view) => view.get('policy', (policies[0] as { address: string }).address)?.mint ?? null);
  const came = Array.from({ length: 3 }, (_, at) => policyRow(`late ${at}`, 'quote'));
  await store.insert('policies', came);
  pass(2_000);
  const changes: Changes = new Map();
  noteRows(changes, 'policies', came);
  handOver.note(changes);
  await memory.turn();
  const bankrollOf = (row: (typeof came)[number]) => (view: View) => {
    const policy = view.get('policy', row.address as string);
    const venues = view.get('venueAccounts', row.address as string).length;
    return { venues, bankroll: view.get('tokenAccount', policy?.bankroll ?? '')?.amount };
  };
  const [first, ...others] = came.map((row) => bankrollOf(row));
  expect((await memory.read(first as (view: View) => unknown)).value).toMatchObject({ venues: 0 });
  const before = asked.length;
  for (const other of others) expect((await memory.read(other)).value).toMatchObject({ venues: 0 });
  expect(asked.length).toBe(before);
  await store.insert(
    'policies',
    came.map((row) => ({ ...row, exists: 0, ...later(9_500n) })),
  );
});

test('a turn reads a changed state again, though nobody has asked for it recently', async () => {
  const { asked, memory, handOver, pass } = watched();
  await memory.read(read(0));
  pass(30_000);
  const changes: Changes = new Map();
  const paused = policyRow('coin 3', 'quote', { paused: 1, ...later(9_000n) });
  await store.insert('policies', [paused]);
  noteRows(changes, 'policies', [paused]);
  handOver.note(changes);
  await memory.turn();
  const before = asked.length;
  expect((await memory.read(read(3))).value?.paused).toBe(1);
  expect(asked.length).toBe(before);
});

test('a turn rereads the day window of a mint with at most 20,000 events; with more, the reader waits for it', async () => {
  const { asked, memory, handOver, pass } = watched();
  const [few, many] = [20, 21];
  const name = (at: number) => NAMES[at] as string;
  await store.insert('policy_totals', [
    totalsRow(name(few), { event_count: '20000' }),
    totalsRow(name(many), { event_count: '20001' }),
  ]);
  const withTotals = (at: number) => (view: View) => {
    view.get('totals', key(name(at)));
    return read(at)(view)?.events;
  };
  for (const at of [few, many]) expect((await memory.read(withTotals(at))).value).toBe(0);
  pass(30_000);
  await memory.read(withTotals(0));
  const now = Math.floor(Date.now() / 1000);
  const events = [few, many].map((at) => eventRow(name(at), 'Routed', 1, { block_time: now }));
  await store.insert('events', events);
  await countKinds(store, events as never);
  const changes: Changes = new Map();
  noteRows(changes, 'events', events);
  handOver.note(changes);
  await memory.turn();
  const asksFor = async (at: number) => {
    const before = asked.length;
    expect((await memory.read(withTotals(at))).value).toBe(1);
    return asked.slice(before).filter((sql) => sql.includes('FROM events FINAL')).length;
  };
  expect(await asksFor(few)).toBe(0);
  expect(await asksFor(many)).toBe(1);
});

test('a change after the read of all policies, but before its rows are in place, is not lost', async () => {
  let meanwhile = async () => {};
  const { memory, handOver } = watched(async (sql) => {
    if (sql.includes('address AS key') && sql.includes('FROM policies')) await meanwhile();
  });
  meanwhile = async () => {
    meanwhile = async () => {};
    const changes: Changes = new Map();
    const paused = policyRow('coin 5', 'quote', { paused: 1, ...later(9_050n) });
    await store.insert('policies', [paused]);
    noteRows(changes, 'policies', [paused]);
    handOver.note(changes);
    handOver.applied();
  };
  await memory.read(read(0));
  await memory.turn();
  expect((await memory.read(read(5))).value?.paused).toBe(1);
});

test('a policy read while a turn rereads all policies is up to date after that turn', async () => {
  let meanwhile = async () => {};
  const { memory, handOver, pass } = watched(async (sql) => {
    if (sql.includes('FROM policies')) await meanwhile();
  });
  await memory.read(read(0));
  await memory.turn();
  pass(30_000);
  const changes: Changes = new Map([['policies', new Set([ANY])]]);
  await store.insert('policies', [policyRow('coin 9', 'quote', { paused: 1, ...later(9_070n) })]);
  handOver.note(changes);
  let unfolded: number | undefined;
  meanwhile = async () => {
    meanwhile = async () => {};
    unfolded = memory.readNow(read(9))?.value?.paused;
  };
  // The first policy is asked for, so it is read again with the turn.
  memory.readNow(read(0));
  await memory.turn();
  expect(unfolded).toBe(0);
  expect((await memory.read(read(9))).value?.paused).toBe(1);
});

test('the turn that reports a new policy also brings everything that an answer about it needs', async () => {
  const { asked, memory, handOver } = watched();
  await memory.read(read(0));
  const changes: Changes = new Map();
  await store.insert('policies', policies.slice(-1));
  noteRows(changes, 'policies', policies.slice(-1));
  handOver.note(changes);
  await memory.turn();
  const before = asked.length;
  const made = await memory.read(read(NAMES.length));
  expect(made.value).toEqual({ amounts: ['7', '7'], paused: 0, pool: 0, name: undefined, events: 0 });
  expect(asked.length).toBe(before);
});

test('a change while the first order of the ranking is read is included in it', async () => {
  let meanwhile = async () => {};
  const { memory, handOver } = watched(async (sql) => {
    // The policies are read by then.
    if (sql.includes('FROM policy_totals')) await meanwhile();
  });
  const rich = policyRow('coin 7', 'quote', { hwm: '1', profit_swept: '999999', ...later(9_100n) });
  meanwhile = async () => {
    meanwhile = async () => {};
    const changes: Changes = new Map();
    await store.insert('policies', [rich]);
    noteRows(changes, 'policies', [rich]);
    handOver.note(changes);
    handOver.applied();
    await memory.turn();
  };
  const { value } = await memory.read((view) => {
    const ranked = view.ranked({ launchpad: encodeBase58(LAUNCHPAD) });
    if (ranked === null || ranked === 'engine') return null;
    return ranked.page(RICHEST).rows.map(({ address }) => address);
  });
  expect(value).toEqual([rich.address]);
});
