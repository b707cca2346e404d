import { afterAll, beforeAll, expect, test } from 'vitest';
import { addChanges, type Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { differingMints } from '../../../clickhouse/queries/audit/event-tables.ts';
import { unappliedOfMint } from '../../../clickhouse/queries/audit/unapplied.ts';
import { lastTransactions } from '../../../clickhouse/queries/states/policy.ts';
import { keeperOfDay } from '../../../clickhouse/queries/status/events-between.ts';
import { disputedSlots } from '../../../clickhouse/queries/transactions/disputed.ts';
import type { LogEntry } from '../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import type { LogRecord, TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { toGeyser } from '../../schemas/support/encode-transaction.ts';
import { ours } from '../../schemas/support/program-calls.ts';
import { run } from '../../schemas/support/run.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { createRandom } from '../../support/random.ts';
import {
  batchOf,
  EVENING,
  event,
  key,
  logOf,
  PROGRAM,
  rawSignature,
  routed,
  transaction,
} from './support/records.ts';
import { readTables, type Tables } from './support/tables.ts';

const SEED = Number(process.env.SEED ?? 1);
const open: Store[] = [];
let expected: Served;
afterAll(async () => {
  await Promise.all(open.map((store) => store.close()));
});

async function emptyStore(): Promise<Store> {
  const store = await embeddedDatabase('several');
  open.push(store);
  return store;
}

const CLAIM = event('FeesClaimed', { quoteAmount: 3n, baseAmount: 0n });
const failed = toGeyser(run([ours({ emit: routed(1n) })], true), false);
const disputed = { standing: 'disputed' } as const;
const decides = { standing: 'decides', source: 'rpc' } as const;

/** The chain's transactions: other amounts, another kind, an event less or more, another policy's event, one failed. */
const CHAIN: TransactionRecord[] = [
  transaction('amounts', 10n, [routed(5n)], { ...decides, index: 3 }),
  transaction('kind', 11n, [routed(2n)], decides),
  transaction('less', 11n, [routed(7n)], { ...decides, index: 3 }),
  transaction('more', 11n, [routed(7n), event('CreditNoted', { amount: 4n })], decides),
  transaction('policy', 12n, [routed(7n, 'other')], decides),
  transaction('last', 1_200n, [routed(7n, 'other')], decides),
  transaction('failed', 13n, [], { ...decides, payload: failed }),
  transaction('same', 14n, [routed(9n)], decides),
];
/** What the stream brought of the same transactions; a second reading of one disputes the first. */
const TOLD: TransactionRecord[][] = [
  [transaction('amounts', 10n, [routed(6n)], disputed), transaction('amounts', 10n, [routed(5n)], disputed)],
  [transaction('kind', 11n, [CLAIM], disputed)],
  [transaction('less', 11n, [routed(7n)]), transaction('less', 11n, [routed(8n), routed(9n)], disputed)],
  [transaction('more', 11n, [routed(7n)], disputed)],
  [transaction('policy', 12n, [routed(7n), routed(8n)]), transaction('policy', 12n, [routed(7n)], disputed)],
  // The only events of the policy in those slots.
  [transaction('last', 1_200n, [routed(7n)]), transaction('last', 1_200n, [routed(8n)], disputed)],
  [transaction('failed', 13n, [routed(7n), event('CreditNoted', { amount: 4n })], disputed)],
  [transaction('same', 14n, [routed(9n)], disputed)],
];
const OTHERS = [
  transaction('beside', 9n, [routed(100n)]),
  transaction('claimed', 8n, [CLAIM]),
  transaction('later', 15n, [routed(100n), CLAIM], { blockTime: EVENING + 60 }),
  transaction('behind', 600n, [routed(100n)], { blockTime: EVENING + 300 }),
];

const isStanding = (row: unknown) => (row as { kind: string }).kind !== '';

/** What readers see of a store; leaves out which reading a row comes from (`has_index`). */
type Served = Tables & { last: unknown[]; keeper: unknown[] };
async function served(store: Store): Promise<Served> {
  const tables = await readTables(store);
  const plain = (rows: unknown[] = []) => rows.map((row) => ({ ...(row as object), has_index: 0 }));
  const policies = ['mint', 'other'].map((mint) => key(`policy of ${mint}`));
  const last = [...(await lastTransactions(store, policies))].map(([policy, { signature }]) => [
    policy,
    signature,
  ]);
  const written = await store.query(
    'SELECT policy, slot, signature, tx_index FROM policy_transactions FINAL WHERE has_index != 2 ORDER BY policy, slot, signature',
  );
  const zeros = (row: unknown) =>
    Object.values(row as object).every((value) => !/^[1-9]\d*$/.test(String(value)));
  const sums = (rows: unknown[] = []) =>
    rows.filter((row) => !zeros({ ...(row as object), mint: '', day: '', quote_mint: '' }));
  return {
    events: plain(tables.events?.filter(isStanding)),
    bySlot: plain(tables.bySlot?.filter(isStanding)),
    transactions: plain(tables.transactions),
    written,
    policyTotals: sums(tables.policyTotals),
    quoteDays: sums(tables.quoteDays),
    last: last.sort(),
    // In a window that cuts a slot interval, whose events are then counted one by one.
    keeper: (await keeperOfDay(store, EVENING + 10)).row,
  };
}

beforeAll(async () => {
  const store = await emptyStore();
  const plain = CHAIN.map(({ standing: _, ...record }) => record);
  await createMaterialiser({ store, programId: PROGRAM })(
    batchOf('transactions', logOf([...OTHERS, ...plain])),
  );
  expected = await served(store);
});

const take = (store: Store, entries: readonly LogEntry[]) =>
  createMaterialiser({ store, programId: PROGRAM })(batchOf('transactions', entries));

test('a deciding reading overrides what the stream brought before it and what it brings later', async () => {
  const store = await emptyStore();
  const apply = createMaterialiser({ store, programId: PROGRAM });
  let next = 0n;
  const hand = async (...records: LogRecord[]) => {
    await apply(batchOf('transactions', logOf(records, next)));
    next += BigInt(records.length);
  };
  for (const record of [...OTHERS, ...TOLD.flat()]) await hand(record);
  expect(await served(store)).not.toEqual(expected);
  expect(await disputedSlots(store, 9)).toEqual([10n, 11n, 12n, 13n, 14n, 1_200n]);
  const stored = await storedState(store).verification?.storedBetween(0n, 20n);
  expect(stored?.find(({ signature }) => signature === encodeBase58(rawSignature('amounts')))).toMatchObject({
    disputed: { index: 1 },
  });
  for (const record of CHAIN) await hand(record);
  expect(await served(store)).toEqual(expected);
  expect(await disputedSlots(store, 9)).toEqual([]);
  // An audit neither misses nor waits for what was taken out.
  for (const mint of ['mint', 'other']) expect(await unappliedOfMint(store, key(mint)), mint).toBe(0);
  expect((await differingMints(store, { first: '', last: '~' })).mints).toEqual([]);
  // The states that a transaction left are unknown, a hole, except where the stream had what the chain has.
  const holes = await store.query<{ after_slot: string }>(
    'SELECT after_slot FROM stream_holes ORDER BY after_slot',
  );
  expect(new Set(holes.map(({ after_slot }) => after_slot))).toEqual(new Set(['10', '11', '12', '1199']));
  for (const record of TOLD.flat()) await hand(record);
  await hand(...TOLD.flat());
  expect(await served(store)).toEqual(expected);
  expect(await disputedSlots(store, 9)).toEqual([]);
});

test(`every figure is the chain's however the log is cut, shuffled, interrupted and reapplied (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const pick = (below: number) => Math.floor(random() * below);
  for (let round = 0; round < 6; round += 1) {
    const store = await emptyStore();
    const records = [...OTHERS, ...TOLD.flat(), ...CHAIN].toSorted(() => random() - 0.5);
    const log = logOf(records);
    for (let done = 0; done < log.length; ) {
      const from = pick(2) === 0 ? pick(done + 1) : done;
      const to = Math.min(log.length, from + 1 + pick(log.length / 2));
      if (pick(3) === 0) {
        let left = pick(10);
        const mortal: Store = {
          ...store,
          insert: async (table, rows) => {
            left -= 1;
            if (left < 0) throw new Error('killed');
            await store.insert(table, rows);
          },
        };
        const isDone = await take(mortal, log.slice(from, to)).then(
          () => true,
          () => false,
        );
        if (!isDone) continue;
      } else await take(store, log.slice(from, to));
      done = Math.max(done, to);
    }
    expect(await served(store), `round ${round}`).toEqual(expected);
  }
});

test('a paused writer does not bring back facts that a deciding reading replaced meanwhile', async () => {
  const store = await emptyStore();
  const paused = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const slow: Store = {
    ...store,
    insert: async (table, rows) => {
      if (table === 'events') {
        reached.resolve();
        await paused.promise;
      }
      await store.insert(table, rows);
    },
  };
  const told = logOf([...OTHERS, ...TOLD.flat()]);
  const late = take(slow, told);
  await reached.promise;
  await take(store, [...told, ...logOf(CHAIN, BigInt(told.length))]);
  paused.resolve();
  await late;
  const { policyTotals: _, quoteDays: __, ...facts } = expected;
  expect(await served(store)).toMatchObject(facts);
});

test('a deciding reading without a block time keeps the time that the stream brought', async () => {
  const store = await emptyStore();
  const apply = createMaterialiser({ store, programId: PROGRAM });
  const told = [transaction('t', 10n, [routed(5n)]), transaction('t', 10n, [routed(6n)], disputed)];
  for (const [at, record] of [
    ...told,
    transaction('t', 10n, [routed(5n)], { ...decides, blockTime: null }),
  ].entries())
    await apply(batchOf('transactions', logOf([record], BigInt(at))));
  expect(
    await store.query('SELECT block_time, amount_a FROM events FINAL WHERE signature = {signature:String}', {
      signature: encodeBase58(rawSignature('t')),
    }),
  ).toEqual([{ block_time: String(EVENING), amount_a: '5' }]);
  expect(await store.query('SELECT sum(event_count) AS count FROM quote_days FINAL')).toEqual([
    { count: '1' },
  ]);
});

test.each([
  ['policy_transactions', 'the same process'],
  ['policy_transactions', 'another process'],
  ['derived_events', 'the same process'],
  ['derived_events', 'another process'],
  ['a sum', 'the same process'],
  ['a sum', 'another process'],
])('a decision that failed at %s is completed and announced by the next try, in %s', async (table, by) => {
  // An event that the chain does not have at all, and one that is another policy's.
  const told = [
    transaction('less', 1_100n, [routed(7n, 'lost'), routed(3n, 'lost')]),
    transaction('less', 1_100n, [routed(8n, 'lost'), routed(9n, 'lost')], disputed),
    transaction('last', 1_200n, [routed(7n)]),
    transaction('last', 1_200n, [routed(8n)], disputed),
  ];
  const chain = [
    transaction('less', 1_100n, [routed(7n, 'third')], decides),
    transaction('last', 1_200n, [routed(7n, 'other')], decides),
  ];
  const beside = transaction('next', 2_000n, [routed(1n)]);
  const plain = await emptyStore();
  const whole = [...chain.map(({ standing: _, ...record }) => record), beside];
  await createMaterialiser({ store: plain, programId: PROGRAM })(batchOf('transactions', logOf(whole)));

  const store = await emptyStore();
  let isArmed = false;
  const facts = new Map(
    ['events', 'policy_transactions', 'derived_events'].map((one) => [one, Promise.withResolvers<void>()]),
  );
  const mortal: Store = {
    ...store,
    insert: async (into, rows) => {
      if (isArmed && into === table) {
        // Let all other writes of the batch be done first.
        facts.get(into)?.resolve();
        await Promise.all([...facts.values()].map(({ promise }) => promise));
        throw new Error('cut off');
      }
      await store.insert(into, rows);
      if (isArmed) facts.get(into)?.resolve();
    },
    command: async (sql, params) => {
      if (isArmed && table === 'a sum') throw new Error('cut off');
      await store.command(sql, params);
    },
  };
  const changes: Changes = new Map();
  const onChanged = (some: Changes) => addChanges(changes, some);
  const apply = createMaterialiser({ store: mortal, programId: PROGRAM, onChanged });
  await apply(batchOf('transactions', logOf(told)));
  // In another interval, since the process keeps sums of the newest one in memory.
  await apply(batchOf('transactions', logOf([beside], 4n)));
  changes.clear();
  isArmed = true;
  const batch = batchOf('transactions', logOf(chain, 5n));
  await expect(apply(batch)).rejects.toThrow('cut off');
  expect(changes.size).toBe(0);
  isArmed = false;
  await (by === 'another process' ? createMaterialiser({ store, programId: PROGRAM, onChanged }) : apply)(
    batch,
  );

  expect(await served(store)).toEqual(await served(plain));
  expect(
    await store.query('SELECT slot, position FROM derived_events FINAL WHERE taken_back = 1 ORDER BY slot'),
  ).toMatchObject([{ slot: '1100' }]);
  // Processes that keep rows of them are notified to read them again.
  for (const mint of ['mint', 'lost']) {
    expect(changes.get('events')).toContain(key(mint));
    expect(changes.get('policy_totals')).toContain(key(mint));
    expect(changes.get('policy_transactions')).toContain(key(`policy of ${mint}`));
  }
});
