import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { foldLines, rowsAt } from '../../api/latest/folded/chunk.ts';
import type { Kind } from '../../api/latest/kinds/kind.ts';
import { POLICY_KINDS } from '../../api/latest/kinds/policy-kinds.ts';
import type { Store } from '../../clickhouse/client.ts';
import { AFTER_ALL_KEYS, inOrderUpTo } from '../../clickhouse/in-order.ts';
import { lastTransactions, lastTransactionsSince } from '../../clickhouse/queries/states/policy.ts';
import { DAY_S } from '../../schemas/units.ts';
import { countKinds } from '../api/support/api.ts';
import {
  curveRow,
  eventRow,
  key,
  mintRow,
  policyRow,
  poolKey,
  poolRow,
  TIME,
  tokenAccountRow,
  totalsRow,
  venueAccountRow,
} from '../api/support/rows.ts';
import { embeddedDatabase } from '../support/embedded.ts';
import { insertWritten } from '../support/written.ts';

const NAMES = Array.from({ length: 9 }, (_, at) => `coin ${at}`);
const policies = NAMES.map((name) => policyRow(name, 'quote'));
const addressOf = (at: number) => (policies[at] as { address: string }).address;
const later = { slot: '5000', version: String(5000n << 64n) };
const remote = (name: string) => key(`remote of ${name}`);

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
  await store.insert('policies', policies);
  await store.insert('policies', [
    { ...policies[1], ...later, paused: 1 },
    { ...policies[2], ...later, exists: 0 },
  ]);
  const accounts = policies.map((row) => tokenAccountRow(row.bankroll as string, '18446744073709551615'));
  await store.insert('token_accounts', accounts);
  await store.insert('token_accounts', [{ ...accounts[3], ...later, amount: '0', exists: 0 }]);
  const venues = NAMES.flatMap((name, at) =>
    Array.from({ length: at % 4 }, (_, of) => venueAccountRow(name, `account ${of} of ${name}`)),
  );
  await insertWritten(store, 'venue_accounts', venues);
  await store.insert('venue_accounts', [{ ...venues[0], ...later, revoked: 1 }]);
  await store.insert('curve_configs', [curveRow()]);
  await store.insert(
    'pools',
    NAMES.slice(1).map((name) => poolRow(name, 'quote')),
  );
  await writeMints();
  await store.insert('policy_totals', [
    ...NAMES.map((name, at) => totalsRow(name, { routed: '7', claim_count: String(claimsOf(at)) })).slice(1),
    totalsRow(NAMES[3] as string, { routed: '5', claim_count: '0', log_partition: 1 }),
  ]);
  await store.insert(
    'account_readings',
    NAMES.slice(4).map((name) => ({
      ...{ venue_account: remote(name), read_at: '5', venue: 'perp', reachable: 1, error: null },
      ...{ equity: '1', notional: null, reason: null, venue_time: '9' },
    })),
  );
  await writeEvents();
});
afterAll(() => store.close());

async function writeMints(): Promise<void> {
  const named = (name: string) => mintRow(name, 6, { name: `${name} "ü"`, symbol: 'C', uri: `u/${name}` });
  const pointer = key('pointer');
  await store.insert('mints', [
    ...NAMES.slice(2).map(named),
    mintRow(NAMES[0] as string, 6, { metadata_pointer: pointer }),
  ]);
  await store.insert('metadata_accounts', [
    {
      ...{ address: pointer, slot: '1000', version: '1', block_time: TIME, source: 'stream', exists: 1 },
      ...{ mint: key(NAMES[0] as string), name: 'pointed', symbol: 'P', uri: 'u' },
    },
  ]);
  const document = { read_at: '5', image_url: 'https://i/', error: null };
  await store.insert('metadata_documents', [
    { ...document, mint: key(NAMES[3] as string), uri: `u/${NAMES[3]}` },
    { ...document, mint: key(NAMES[4] as string), uri: 'another' },
  ]);
}

const eventsOf = (at: number) => (at === 8 ? 150 : at * 5);
const claimsOf = (at: number) => (eventsOf(at) * 4) / 5;

/** More claims than a coin's answer lists; some a day old, some ahead of the clock. */
async function writeEvents(): Promise<void> {
  const events = NAMES.flatMap((name, at) =>
    Array.from({ length: eventsOf(at) }, (_, index) =>
      eventRow(name, index % 5 === 4 ? 'Routed' : 'FeesClaimed', index, {
        ...{ amount_a: String(index), amount_b: '3', tx_index: index % 3 },
        block_time: TIME + (at === 8 ? 40 : 0) - (index % 7 === 0 ? 2 * DAY_S : index),
      }),
    ),
  );
  await store.insert('events', events);
  await countKinds(store, events as never);
  const written = { policy: addressOf(5), block_time: TIME, has_index: 1 };
  await store.insert('policy_transactions', [
    { ...written, slot: '7', signature: 'a', tx_index: 3 },
    { ...written, slot: '7', signature: 'b', tx_index: 2 },
    { ...written, slot: '9', signature: 'no longer there', tx_index: 2, has_index: 2 },
    { ...written, policy: addressOf(6), slot: '9', signature: 'c', tx_index: 2, block_time: null },
    { ...written, policy: addressOf(6), slot: '9', signature: 'd', tx_index: 2, block_time: null },
  ]);
}

const mints = [...NAMES, 'nobody'].map(key);
const addresses = [...NAMES.keys()].map(addressOf).concat(key('nobody'));

const KEYS: Record<keyof typeof POLICY_KINDS, readonly string[]> = {
  ...{ policy: addresses, lastTransaction: addresses, venueAccounts: addresses },
  tokenAccount: [...policies.map((row) => row.bankroll as string), key('nobody')],
  ...{ mint: mints, totals: mints, claims: mints, claimsOfDay: mints, eventsOfDay: mints },
  pool: NAMES.map((name) => poolKey(name, 'quote')),
  venueReading: [...NAMES, 'nobody'].map(remote),
};

test.each(Object.keys(POLICY_KINDS) as (keyof typeof POLICY_KINDS)[])(
  'all %s rows read in key order, in large or small chunks, equal those read by key',
  async (name) => {
    const kind = POLICY_KINDS[name] as unknown as Kind<unknown>;
    const { ordered } = kind;
    const now = TIME * 1000;
    const byKey = await kind.load(store, KEYS[name], now, { busyAmong: async () => new Set() });
    expect(byKey.size).toBeGreaterThan(1);
    expect(byKey.size).toBeLessThan(KEYS[name].length + 1);
    for (const most of [120, 1_000]) {
      const [seen, asked] = [new Map<string, unknown>(), new Set<string>()];
      for (let behind = ''; behind !== AFTER_ALL_KEYS; ) {
        const stretch = { behind, last: AFTER_ALL_KEYS, most };
        const chunk = await foldLines((await ordered?.read(store, stretch, now)) ?? '', stretch);
        for (const one of KEYS[name])
          if (one > behind && one <= chunk.last) {
            const { rows } = rowsAt(chunk, one);
            const value = rows.length === 0 ? undefined : ordered?.valueOf(rows);
            if (value === null) asked.add(one);
            if (value !== undefined) seen.set(one, value ?? byKey.get(one));
          }
        behind = chunk.last;
      }
      expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(byKey));
      // That policy's newest transaction was struck out.
      expect([...asked]).toEqual(name === 'lastTransaction' ? [addressOf(5)] : []);
    }
  },
);

test('the newest transaction of a policy is found, among all and among those from a slot on', async () => {
  const byKey = await lastTransactions(store, addresses);
  const found = [5, 6].map((at) => byKey.get(addressOf(at))?.signature);
  expect([byKey.size, found]).toEqual([2, ['a', 'd']]);
  const since = async (slot: string) => [...(await lastTransactionsSince(store, addresses, slot)).values()];
  expect((await since('7')).map(({ signature }) => signature).sort()).toEqual(['a', 'd']);
  expect((await since('8')).map(({ signature }) => signature)).toEqual(['d']);
  expect(await since('10')).toEqual([]);
});

test('a mint’s claims read in order are left to a query by key if newer ones may be missing', async () => {
  const own = await embeddedDatabase();
  onTestFinished(async () => {
    await own.command('SYSTEM START MERGES events');
    await own.close();
  });
  await own.command('SYSTEM STOP MERGES events');
  const claims = (name: string, count: number, change = {}) =>
    Array.from({ length: count }, (_, index) => eventRow(name, 'FeesClaimed', index, change));
  const manyTimes = claims('many times', 120);
  for (let time = 0; time < 25; time += 1) await own.insert('events', manyTimes);
  for (let time = 0; time < 2; time += 1) await own.insert('events', claims('doubled', 20));
  await own.insert('events', claims('without sums', 3));
  await own.insert('events', claims('struck out', 2));
  await own.insert('events', claims('struck out', 2, { kind: '', has_index: 2 }));
  await own.insert('events', claims('sums of before', 4));
  const told = { doubled: 20, 'many times': 120, 'struck out': 2, 'sums of before': 3 };
  await own.insert(
    'policy_totals',
    Object.entries(told).map(([name, count]) => totalsRow(name, { claim_count: String(count) })),
  );
  const { ordered } = POLICY_KINDS.claims;
  const stretch = { behind: '', last: AFTER_ALL_KEYS, most: 1_000 };
  const chunk = await foldLines((await ordered?.read(own, stretch, 0)) ?? '', stretch);
  const foundOf = (name: string) => {
    const { rows } = rowsAt(chunk, key(name));
    return [rows.length, ordered?.valueOf(rows)?.value.length ?? null];
  };
  expect(['doubled', 'many times', 'without sums', 'struck out', 'sums of before'].map(foundOf)).toEqual([
    [20, 20],
    // Each event is there 25 times, and so many rows are not read.
    [16, null],
    [3, null],
    [1, null],
    [4, null],
  ]);
});

test('a history table with more rows than the limit is not read in key order', async () => {
  const sql = 'SELECT mint AS key FROM events WHERE key > {behind:String} LIMIT {most:UInt32}';
  const stretch = { behind: '', last: AFTER_ALL_KEYS, most: 1 };
  const [found] = await store.query<{ rows: string }>('SELECT count() AS rows FROM events');
  const rows = Number(found?.rows);
  expect(await inOrderUpTo(rows, 'events', sql)(store, stretch)).toContain('"key"');
  await expect(inOrderUpTo(rows - 1, 'events', sql)(store, stretch)).rejects.toThrow(/more than/);
});
