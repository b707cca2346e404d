import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHandOver } from '../../../api/latest/feed.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import { type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { policiesAt, policiesSince } from '../../../clickhouse/queries/states/policy.ts';
import { tokenAccountsAt, tokenAccountsSince } from '../../../clickhouse/queries/states/token-accounts.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { appliedRow, key, policyRow, TIME, tokenAccountRow } from '../support/rows.ts';

const SEED = process.env.SEED ?? 'changed-rows-1';
const MARKER = 2_000n;

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

const stateIn = (slot: bigint, write: bigint) => ({
  ...{ slot: String(slot), version: String((slot << 64n) + write) },
  block_time: TIME,
});

test(`many changed rows read at once equal those read by key, whatever slot they were written in (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const names = Array.from({ length: 60 }, (_, at) => `coin${at}`);
  const asked: string[] = [];
  const handOver = createHandOver();
  const memory = createMemory({
    store: {
      ...store,
      query: (sql, params) => {
        asked.push(sql);
        return store.query(sql, params);
      },
    },
    ...{ feed: handOver, clock: () => TIME * 1000, monotonic: () => 0, maxBytes: 10_000_000 },
  });
  let writes = 0n;
  const write = async (slotOf: () => bigint) => {
    const changes: Changes = new Map();
    const put = async (table: string, rows: object[]) => {
      noteRows(changes, table, rows);
      await store.insert(table, rows);
    };
    const state = () => {
      writes += 1n;
      return { ...stateIn(slotOf(), writes), exists: random.int(0, 7) === 0 ? 0 : 1 };
    };
    // Two parts of the table: the newer state may be in either.
    for (let part = 0; part < 2; part += 1) {
      await put(
        'policies',
        names.map((name) => policyRow(name, 'usd', { ...state(), fees_claimed: String(random.int(0, 9)) })),
      );
      await put(
        'token_accounts',
        names.map((name) => tokenAccountRow(key(name), String(random.int(0, 9)), state())),
      );
    }
    handOver.note(changes);
  };
  const addresses = names.map((name) => policyRow(name, 'usd').address as string);
  const accounts = names.map((name) => key(name));
  const compare = async () => {
    await memory.turn();
    const { value } = await memory.read((view) => ({
      policies: view.rows('policy', addresses),
      accounts: view.rows('tokenAccount', accounts),
    }));
    expect(value).toEqual({
      policies: await policiesAt(store, addresses),
      accounts: await tokenAccountsAt(store, accounts),
    });
  };
  await store.insert('applied', [
    appliedRow('accounts', 0, { slot: String(MARKER) }),
    appliedRow('transactions', 0, { slot: String(MARKER) }),
  ]);
  await write(() => MARKER - 100n);
  await compare();
  asked.length = 0;
  // All writes are behind the marker, so earlier rows need no lookup.
  await write(() => MARKER + BigInt(random.int(0, 3)));
  await compare();
  const byKey = (sql: string) => /FROM (policies|token_accounts)/.test(sql) && !sql.includes('PREWHERE');
  expect(asked.some((sql) => sql.includes('PREWHERE version'))).toBe(true);
  // Closed policies are looked up by key; an account's row is there whether or not it exists.
  expect(asked.filter(byKey).filter((sql) => !sql.includes('FROM policies'))).toEqual([]);
  // Some writes are before it, as readings over JSON-RPC may be.
  for (let round = 0; round < 3; round += 1) {
    await write(() => MARKER + BigInt(random.int(-50, 4)));
    await compare();
  }
});

test('a read of keys written since a slot finds their newest states and omits closed policies', async () => {
  const own = await embeddedDatabase('several');
  const [one, two, three] = ['one', 'two', 'three'].map((name) => policyRow(name, 'usd'));
  await own.insert('policies', [
    { ...one, ...stateIn(10n, 1n), fees_claimed: '1' },
    { ...two, ...stateIn(30n, 1n), fees_claimed: '2' },
    { ...three, ...stateIn(10n, 1n) },
  ]);
  await own.insert('policies', [
    { ...one, ...stateIn(20n, 1n), fees_claimed: '3' },
    { ...two, ...stateIn(40n, 1n), exists: 0 },
  ]);
  const keys = [one, two, three].map((row) => row?.address as string);
  const found = await policiesSince(own, keys, '20');
  expect([...found.values()]).toMatchObject([{ address: one?.address, fees_claimed: '3' }]);
  await own.close();
});

test('a state that arrives late does not replace a reading taken at a later slot', async () => {
  const own = await embeddedDatabase('several');
  // A reading: its time is that of the state it repeats, its version that of its own slot.
  const reading = { ...stateIn(50n, 9n), slot: '10' };
  const policy = policyRow('one', 'usd', { ...reading, fees_claimed: '1' });
  const address = policy.address as string;
  await own.insert('policies', [policy]);
  await own.insert('token_accounts', [tokenAccountRow(key('account'), '1', reading)]);
  await own.insert('policies', [{ ...policy, ...stateIn(30n, 1n), fees_claimed: '2' }]);
  await own.insert('token_accounts', [tokenAccountRow(key('account'), '2', stateIn(30n, 1n))]);
  const policies = await policiesSince(own, [address], '20');
  expect(policies).toEqual(await policiesAt(own, [address]));
  expect(policies.get(address)?.fees_claimed).toBe('1');
  const accounts = await tokenAccountsSince(own, [key('account')], '20');
  expect(accounts).toEqual(await tokenAccountsAt(own, [key('account')]));
  expect(accounts.get(key('account'))?.amount).toBe('1');
  await own.close();
});
