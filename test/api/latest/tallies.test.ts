import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHandOver } from '../../../api/latest/feed.ts';
import { NOTHING_READ } from '../../../api/latest/kinds/already-read.ts';
import { loadPolicySums, refreshPolicySums } from '../../../api/latest/kinds/tallies/policies.ts';
import {
  attestationsIn,
  backlogIn,
  bridgeIn,
  quoteTotalsIn,
} from '../../../api/latest/kinds/tallies/sums.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import type { View } from '../../../api/latest/view.ts';
import { type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { bridgeFlow } from '../../../clickhouse/queries/analytics/bridge-flow.ts';
import { quoteTotals } from '../../../clickhouse/queries/analytics/totals.ts';
import { keeperOfDay } from '../../../clickhouse/queries/status/events-between.ts';
import { feeBacklog } from '../../../clickhouse/queries/status/status-counts.ts';
import { newestAttestations } from '../../../clickhouse/queries/status/venue-state.ts';
import type { EventRow } from '../../../clickhouse/tables.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { insertWritten } from '../../support/written.ts';
import { countKinds } from '../support/api.ts';
import {
  appliedRow,
  eventRow,
  key,
  policyRow,
  SLOT,
  TIME,
  tokenAccountRow,
  venueAccountRow,
} from '../support/rows.ts';

const SEED = process.env.SEED ?? 'tallies-1';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

test(`sums over policies and venue accounts that are updated by changes equal the engine's (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const asked: string[] = [];
  let now = TIME;
  const handOver = createHandOver();
  const memory = createMemory({
    store: {
      ...store,
      query: (sql, params) => {
        asked.push(sql);
        return store.query(sql, params);
      },
    },
    feed: handOver,
    clock: () => now * 1000,
    monotonic: () => 0,
    maxBytes: 10_000_000,
  });
  const write = async (table: string, rows: object[]) => {
    const changes: Changes = new Map();
    noteRows(changes, table, rows);
    await insertWritten(store, table, rows);
    if (table === 'events') await countKinds(store, rows as EventRow[]);
    handOver.note(changes);
  };
  let version = 0n;
  const state = () => {
    version += 1n;
    const block_time = random.int(0, 9) === 0 ? null : TIME - random.int(0, 50);
    return { version: String((SLOT << 64n) + version), block_time };
  };
  const few = <T>(list: readonly T[]): T => list[random.int(0, list.length - 1)] as T;
  const amount = () => few(['0', '1', '18446744073709551615']);
  const names = Array.from({ length: 20 }, (_, at) => `coin${at}`);
  const policies = names.map((name) => policyRow(name, 'usd'));
  const [addresses, escrows] = [
    policies.map((policy) => policy.address as string),
    policies.map((policy) => policy.quote_escrow as string),
  ];
  await write('applied', [appliedRow('accounts', 0), appliedRow('transactions', 0)]);

  const sorted = <Row extends { asset_class: number }>(rows: readonly Row[]) =>
    [...rows].sort((a, b) => a.asset_class - b.asset_class);
  for (let round = 0; round < 6; round += 1) {
    for (const name of names.filter(() => random.int(0, 2) === 0)) {
      const exists = random.int(0, 7) === 0 ? 0 : 1;
      const policy = policyRow(name, few(['usd', 'sol']), {
        ...{ ...state(), exists, mode: few(['Agent', 'Passive']) },
        ...{ locked: random.int(0, 1), paused: random.int(0, 1), fees_claimed: amount(), hwm: amount() },
        ...{ profit_swept: amount(), credit_spent: amount() },
      });
      await write('policies', [policy]);
      const escrow = policy.quote_escrow as string;
      if (random.int(0, 1) === 0)
        await write('token_accounts', [
          tokenAccountRow(escrow, amount(), { ...state(), exists: random.int(0, 3) === 0 ? 0 : 1 }),
        ]);
      const account = venueAccountRow(name, `${name} at ${random.int(0, 1)}`, {
        ...{ ...state(), exists, kind: few(['Remote', 'Remote', 'Local']), asset_class: few([16, 32]) },
        ...{ revoked: random.int(0, 4) === 0 ? 1 : 0, remote_equity: amount(), bridged_out: amount() },
        ...{ remote_asof: few(['0', String(TIME - random.int(0, 9))]), asset_mint: key(few(['usd', 'sol'])) },
      });
      await write('venue_accounts', [account]);
      // Some leave the window of 24 hours while the test goes on, some are ahead of its clock.
      const block_time = TIME + few([-86_400, -3_600, 0]) + random.int(0, 60);
      const slot = String(SLOT + BigInt(random.int(0, 2_000)));
      const kind = few(['Routed', 'FeesClaimed']);
      await write('events', [eventRow(name, kind, Number(version), { block_time, slot, actor: 'keeper' })]);
    }
    await memory.turn();
    // From then on the turn reads these rows too, for these readers.
    if (round > 2)
      await memory.read((view) => [view.rows('policy', addresses), view.rows('tokenAccount', escrows)]);
    asked.length = 0;
    const { value } = await memory.read((view) => ({
      totals: quoteTotalsIn(view),
      backlog: backlogIn(view),
      bridge: sorted(bridgeIn(view)).map((row) => ({ ...row, asset_mints: [...row.asset_mints].sort() })),
      attestations: sorted(attestationsIn(view)),
    }));
    // Once the tallies exist, a reader causes no query.
    expect(round === 0 || asked.length === 0, asked.join('\n')).toBe(true);
    expect(value, `round ${round}`).toEqual({
      totals: await quoteTotals(store),
      backlog: await feeBacklog(store),
      bridge: sorted(await bridgeFlow(store)).map((row) => ({
        ...row,
        asset_mints: [...row.asset_mints].sort(),
      })),
      attestations: sorted(await newestAttestations(store)),
    });
    for (let moment = 0; moment < 5; moment += 1) {
      const keeper = await memory.read((view) => view.single('keeperOfDay'));
      expect(keeper.value, `${now} in round ${round}`).toEqual((await keeperOfDay(store, now)).row);
      now += random.int(0, 4);
    }
  }
});

test('changes that cancel out in a sum still count when the next change comes', async () => {
  const empty = await embeddedDatabase('several');
  const feed = createHandOver();
  const clocks = { clock: () => TIME * 1000, monotonic: () => 0 };
  const memory = createMemory({ store: empty, feed, ...clocks, maxBytes: 10_000_000 });
  let version = 0n;
  const holds = async (...escrows: [name: string, amount: string][]) => {
    version += 1n;
    const state = { version: String((SLOT << 64n) + version), block_time: TIME };
    const rows = escrows.map(([name, amount]) =>
      tokenAccountRow(policyRow(name, 'usd').quote_escrow as string, amount, state),
    );
    const changes: Changes = new Map();
    noteRows(changes, 'token_accounts', rows);
    await empty.insert('token_accounts', rows);
    feed.note(changes);
    await memory.turn();
    const { value } = await memory.read(backlogIn);
    return value.backlog;
  };
  await empty.insert('applied', [appliedRow('accounts', 0), appliedRow('transactions', 0)]);
  await empty.insert('policies', [policyRow('one', 'usd'), policyRow('two', 'usd')]);
  expect(await holds(['one', '5'], ['two', '0'])).toBe(1);
  expect(await holds(['one', '0'], ['two', '5'])).toBe(1);
  expect(await holds(['two', '0'])).toBe(0);
  await empty.close();
});

/** More policies than a few queries read: copies of one row with other addresses. */
const MORE = `
INSERT INTO policies
SELECT * EXCEPT n REPLACE (concat(address, toString(n)) AS address)
FROM policies CROSS JOIN (SELECT number AS n FROM numbers(10001)) AS more`;
/** And more venue accounts. */
const MORE_ACCOUNTS = `
INSERT INTO venue_accounts
SELECT * EXCEPT n REPLACE (concat(address, toString(n)) AS address)
FROM venue_accounts CROSS JOIN (SELECT number AS n FROM numbers(40001)) AS more`;

test('sums over many rows, and over more than memory adds up, equal the engine’s, also after a change', async () => {
  const many = await embeddedDatabase('several');
  const feed = createHandOver();
  const clocks = { clock: () => TIME * 1000, monotonic: () => 0 };
  const memory = createMemory({ store: many, feed, ...clocks, maxBytes: 10_000_000 });
  await many.insert('applied', [appliedRow('accounts', 0), appliedRow('transactions', 0)]);
  const policy = policyRow('one', 'usd', { fees_claimed: '7' });
  await many.insert('policies', [policy]);
  await insertWritten(many, 'venue_accounts', [venueAccountRow('one', 'remote', { kind: 'Remote' })]);
  await many.command(MORE);
  await many.command(MORE_ACCOUNTS);
  const compare = async () => {
    const { value } = await memory.read((view) => [
      quoteTotalsIn(view),
      backlogIn(view),
      bridgeIn(view),
      attestationsIn(view),
    ]);
    expect(value).toEqual([
      await quoteTotals(many),
      await feeBacklog(many),
      await bridgeFlow(many),
      await newestAttestations(many),
    ]);
    return value;
  };
  expect(await compare()).toMatchObject([[{ policy_count: 10_002 }], {}, [{ account_count: 40_002 }], {}]);
  const changes: Changes = new Map();
  const changed = [{ ...policy, version: String((SLOT << 64n) + 9n), fees_claimed: '8' }];
  noteRows(changes, 'policies', changed);
  await many.insert('policies', changed);
  feed.note(changes);
  await memory.turn();
  await compare();
  await many.close();
});

test('with more policies than memory adds up, memory has no sums and the engine is asked for them', async () => {
  const many = await embeddedDatabase('several');
  const policies = ['one', 'two', 'three'].map((name) => policyRow(name, 'usd'));
  await many.insert('policies', policies.slice(0, 2));
  const sums = await loadPolicySums(many, 2);
  expect(sums?.totals).toMatchObject([{ policy_count: 2 }]);
  const changes: Changes = new Map();
  noteRows(changes, 'policies', policies.slice(2));
  await many.insert('policies', policies.slice(2));
  expect(await refreshPolicySums(many, sums, changes, NOTHING_READ, 3)).toMatchObject({
    totals: [{ policy_count: 3 }],
    backlog: { policies: 3, unread: 3 },
  });
  expect(await refreshPolicySums(many, sums, changes, NOTHING_READ, 2)).toBeNull();
  expect(await loadPolicySums(many, 2)).toBeNull();
  expect(await refreshPolicySums(many, null, changes, NOTHING_READ)).toBeNull();
  const asked: string[] = [];
  const view = {
    single: (kind: string) => {
      asked.push(kind);
      return kind === 'policySums' ? null : kind;
    },
  } as unknown as View;
  expect([quoteTotalsIn(view), backlogIn(view)]).toEqual(['quoteTotals', 'backlog']);
  await many.close();
});

test('a policy written between the two queries has its escrow’s balance once its change is reported', async () => {
  const own = await embeddedDatabase('several');
  const policy = policyRow('one', 'usd');
  await own.insert('token_accounts', [tokenAccountRow(policy.quote_escrow as string, '5')]);
  let asked = 0;
  const between: Store = {
    ...own,
    lines: async (sql, params) => {
      asked += 1;
      if (asked === 2) await own.insert('policies', [policy]);
      return own.lines(sql, params);
    },
  };
  const sums = await loadPolicySums(between);
  expect(asked).toBe(2);
  const changes: Changes = new Map();
  noteRows(changes, 'policies', [policy]);
  expect((await refreshPolicySums(own, sums, changes, NOTHING_READ))?.backlog).toMatchObject({
    ...{ policies: 1, backlog: 1, unread: 0 },
  });
  await own.close();
});

test('a policy whose escrow could not be read is added with its balance once it can be', async () => {
  const own = await embeddedDatabase('several');
  const [one, two] = [policyRow('one', 'usd'), policyRow('two', 'usd')];
  await own.insert('policies', [one]);
  const sums = await loadPolicySums(own);
  await own.insert('policies', [two]);
  await own.insert('token_accounts', [tokenAccountRow(two.quote_escrow as string, '5')]);
  const changes: Changes = new Map();
  noteRows(changes, 'policies', [two]);
  const down: Store = {
    ...own,
    query: (sql, params) =>
      sql.includes('token_accounts') ? Promise.reject(new Error('down')) : own.query(sql, params),
  };
  await expect(refreshPolicySums(down, sums, changes, NOTHING_READ)).rejects.toThrow('down');
  expect((await refreshPolicySums(own, sums, changes, NOTHING_READ))?.backlog).toMatchObject({
    ...{ policies: 2, backlog: 1, unread: 1 },
  });
  await own.close();
});

test('a backlog is as old as the oldest escrow, empty ones included, in memory as in the engine', async () => {
  const own = await embeddedDatabase('several');
  let version = 0n;
  let sums = await loadPolicySums(own);
  const escrowOf = (name: string) => policyRow(name, 'usd').quote_escrow as string;
  const oldestAfter = async (table: string, row: object) => {
    version += 1n;
    const rows = [{ ...row, version: String((SLOT << 64n) + version) }];
    const changes: Changes = new Map();
    noteRows(changes, table, rows);
    await own.insert(table, rows);
    sums = await refreshPolicySums(own, sums, changes, NOTHING_READ);
    const told = await feeBacklog(own);
    expect(sums?.backlog).toEqual(told);
    expect((await loadPolicySums(own))?.backlog).toEqual(told);
    return told.oldest_time === null ? null : TIME - Number(told.oldest_time);
  };
  const holds = (name: string, amount: string, age: number | null, exists = 1) =>
    oldestAfter(
      'token_accounts',
      tokenAccountRow(escrowOf(name), amount, { block_time: age === null ? null : TIME - age, exists }),
    );
  expect(await oldestAfter('policies', policyRow('one', 'usd'))).toBeNull();
  expect(await holds('one', '0', 50)).toBe(50);
  // Where one row was not read, nothing is known of the others.
  expect(await oldestAfter('policies', policyRow('two', 'usd'))).toBeNull();
  expect(await holds('two', '5', 20)).toBe(50);
  expect(await holds('one', '0', 30, 0)).toBe(30);
  expect(await holds('two', '0', 10)).toBe(30);
  expect(await oldestAfter('policies', policyRow('one', 'usd', { exists: 0 }))).toBe(10);
  expect(await holds('two', '0', null)).toBeNull();
  await own.close();
});

test('the engine’s newest attestations leave out revoked venue accounts, too', async () => {
  const own = await embeddedDatabase();
  await insertWritten(own, 'venue_accounts', [
    venueAccountRow('a', 'kept', { remote_asof: TIME + 400 }),
    venueAccountRow('a', 'revoked', { remote_asof: TIME + 480, revoked: 1 }),
  ]);
  expect(await newestAttestations(own)).toEqual([{ asset_class: 16, remote_asof: String(TIME + 400) }]);
  await own.close();
});
