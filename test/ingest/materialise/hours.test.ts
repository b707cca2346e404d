import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCover } from '../../../api/history/cover.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { createRandom } from '../../support/random.ts';
import { tokenBytes } from './support/accounts.ts';
import { account, batchOf, key, logOf, PROGRAM, rawKey } from './support/records.ts';

const SEED = Number(process.env.SEED ?? 7);
const TOKEN = decodeKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA') as Uint8Array;
const RPC_VERSION = (1n << 64n) - 1n;
const HOUR = 3_600;
/** Time of slot 0; a slot takes five minutes. */
const START = 497_300 * HOUR;
const SLOT_S = 300;

const timeAt = (slot: bigint) => START + Number(slot) * SLOT_S;

function state(
  name: string,
  slot: bigint,
  amount: bigint,
  change: Partial<AccountRecord> = {},
): AccountRecord {
  const at = { slot, blockTime: timeAt(slot), expected: 'token_account' } as const;
  return account(name, TOKEN, tokenBytes(amount), { ...at, ...change });
}

const read = (name: string, slot: bigint, amount: bigint) =>
  state(name, slot, amount, { source: 'rpc', writeVersion: RPC_VERSION });

const marker = (slot: bigint, parent = slot - 1n): LogRecord => ({
  ...{ kind: 'marker', slot, parent, blockTime: timeAt(slot) },
});

const stores: Store[] = [];
async function fresh(): Promise<Store> {
  const store = await embeddedDatabase('several');
  stores.push(store);
  return store;
}
let store: Store;
beforeAll(async () => {
  store = await fresh();
});
afterAll(async () => {
  for (const one of stores) await one.close();
});

/** @param sizes of the batches, repeated; each batch is applied `times` times */
async function materialise(into: Store, records: readonly LogRecord[], sizes: number[], times = 1) {
  const write = createMaterialiser({ store: into, programId: PROGRAM });
  const entries = logOf(records);
  for (let at = 0, batch = 0; at < entries.length; batch += 1) {
    const size = sizes[batch % sizes.length] as number;
    for (let time = 0; time < times; time += 1)
      await write(batchOf('accounts', entries.slice(at, at + size)));
    at += size;
  }
}

const kept = async (of: Store, name: string) =>
  of.query<{ hour: number; amount: string; seen: string; at: string | null }>(
    `SELECT toInt32(hour - 497300) AS hour, amount, toString(bitShiftRight(version, 64)) AS seen,
       toString(intDiv(block_time - ${START}, ${SLOT_S})) AS at
     FROM account_hours FINAL WHERE address = {address:String} ORDER BY hour`,
    { address: key(name) },
  );
const unseen = async (of: Store, name: string) =>
  of.query(
    `SELECT after_slot, to_slot FROM unseen_changes FINAL WHERE address = {address:String} ORDER BY to_slot`,
    {
      address: key(name),
    },
  );

test('an hour keeps the last state seen in it, in whatever order states come, and no row where none was seen', async () => {
  await materialise(
    store,
    [
      ...[state('a', 1n, 1n), state('a', 5n, 5n), state('a', 14n, 14n), marker(14n, 13n)],
      ...[
        state('a', 40n, 40n),
        marker(40n, 14n),
        state('a', 11n, 11n),
        state('a', 9n, 9n),
        state('a', 30n, 30n),
        // Nothing is seen in the hour between.
        state('a', 62n, 62n),
        state('a', 61n, 61n),
      ],
    ],
    [2, 1],
  );
  expect(await kept(store, 'a')).toEqual([
    { hour: 0, amount: '11', seen: '11', at: '11' },
    { hour: 1, amount: '14', seen: '14', at: '14' },
    { hour: 2, amount: '30', seen: '30', at: '30' },
    { hour: 3, amount: '40', seen: '40', at: '40' },
    { hour: 5, amount: '62', seen: '62', at: '62' },
  ]);
  expect(
    await store.query('SELECT toInt32(hour - 497300) AS hour, slot FROM hour_slots FINAL ORDER BY hour'),
  ).toEqual([
    { hour: 1, slot: '14' },
    { hour: 3, slot: '40' },
  ]);
  expect(await store.query('SELECT after_slot, to_slot FROM stream_holes FINAL')).toEqual([
    { after_slot: '0', to_slot: '13' },
  ]);
});

test('rows written to passed hours are counted, after they are written, and no others are', async () => {
  const into = await fresh();
  const order: string[] = [];
  const noting: Store = {
    ...into,
    insert: async (table, rows) => {
      await into.insert(table, rows);
      order.push(table);
    },
  };
  const counts = () =>
    into.query(
      `SELECT toInt32(hour - 497300) AS hour, toString(sum(written)) AS written FROM hour_writes GROUP BY hour ORDER BY hour`,
    );
  const records = [state('a', 13n, 1n), marker(14n, 13n), state('a', 15n, 2n), state('a', 11n, 3n)];
  const write = createMaterialiser({ store: noting, programId: PROGRAM });
  // The process does not know yet how far the partition is, so the first batch counts.
  const [first, ...rest] = logOf(records);
  await write(batchOf('accounts', [first as (typeof rest)[number]]));
  expect(await counts()).toEqual([{ hour: 1, written: '1' }]);
  for (const entry of rest) await write(batchOf('accounts', [entry]));
  expect(await counts()).toEqual([
    { hour: 0, written: '1' },
    { hour: 1, written: '1' },
  ]);
  expect(order.filter((table) => /hour(s|_writes)$/.test(table))).toEqual([
    ...['account_hours', 'hour_writes'],
    ...['account_hours', 'account_hours', 'hour_writes'],
  ]);
});

test('a marker that says followed addresses are behind stores their slot, and what they missed is a hole', async () => {
  const into = await fresh();
  const behind = (
    slot: bigint,
    followed: bigint,
    blockTime: number | null = timeAt(followed),
  ): LogRecord => ({
    ...{ kind: 'marker', slot, parent: slot - 1n, blockTime: timeAt(slot) },
    followed: { slot: followed, blockTime },
  });
  const at = async () => {
    const rows = await into.query<object>(
      `SELECT slot, block_time, followed, followed_time FROM applied FINAL WHERE topic = 'accounts'`,
    );
    return rows[0];
  };
  // A process that goes on without the stream of followed addresses knows only the slot.
  await materialise(into, [marker(10n), behind(11n, 10n, null)], [1]);
  const first = { slot: '11', block_time: String(timeAt(11n)) };
  expect(await at()).toEqual({ ...first, followed: '10', followed_time: String(timeAt(10n)) });
  const missed = { after: 10n, to: 12n };
  const again: LogRecord = { kind: 'marker', slot: 11n, parent: 11n, blockTime: timeAt(11n), missed };
  await materialise(into, [marker(10n), behind(11n, 10n), again], [2]);
  expect(await at()).toEqual({ ...first, followed: null, followed_time: null });
  expect(await into.query('SELECT after_slot, to_slot FROM stream_holes FINAL ORDER BY to_slot')).toEqual([
    { after_slot: '0', to_slot: '9' },
    { after_slot: '10', to_slot: '12' },
  ]);
});

test('a reading over RPC that repeats a state counts as seen in its hour, with the time of the state', async () => {
  const records = [state('b', 1n, 7n), read('b', 20n, 7n), read('b', 30n, 7n), state('b', 50n, 8n)];
  await materialise(store, records, [1]);
  expect(await kept(store, 'b')).toEqual([
    { hour: 0, amount: '7', seen: '1', at: '1' },
    { hour: 1, amount: '7', seen: '20', at: '1' },
    { hour: 2, amount: '7', seen: '30', at: '1' },
    { hour: 4, amount: '8', seen: '50', at: '50' },
  ]);
  expect(await unseen(store, 'b')).toEqual([]);
});

test('a change that only a reading over RPC shows is stored as unseen, however batches are cut', async () => {
  const of = (name: string) => [
    state(name, 1n, 7n),
    read(name, 5n, 7n),
    read(name, 30n, 9n),
    state(name, 40n, 8n),
  ];
  await materialise(store, of('c'), [1]);
  await materialise(store, of('d'), [4]);
  await materialise(store, of('e'), [2], 2);
  for (const name of ['c', 'd', 'e'])
    expect(await unseen(store, name), name).toEqual([{ after_slot: '5', to_slot: '30' }]);
});

test('a streamed state that is only a reading leaves an unseen change before it, a repeated reading none', async () => {
  const first = state('any', 30n, 9n, { source: 'rpc', writeVersion: 3n });
  for (const [name, sizes] of Object.entries({ 'by itself': [1], together: [3] })) {
    const address = rawKey(name);
    const records = [read('any', 5n, 7n), first, read('any', 40n, 9n)].map((record) => ({
      ...record,
      address,
    }));
    await materialise(store, records, sizes);
    expect(await unseen(store, name), name).toEqual([{ after_slot: '5', to_slot: '30' }]);
  }
});

test('a state of a slot without a time gets no hour, and makes the state before it unknown at later ends', async () => {
  await materialise(store, [state('f', 1n, 7n), state('f', 30n, 9n, { blockTime: null })], [1]);
  expect(await kept(store, 'f')).toMatchObject([{ hour: 0, amount: '7' }]);
  const changes = (await unseen(store, 'f')) as { after_slot: string; to_slot: string }[];
  expect(changes).toEqual([{ after_slot: '29', to_slot: '30' }]);
  const rows = changes.map((row) => ({ address: key('f'), streamed: [], brought: [], ...row }));
  const hours = [0, 12, 24, 36, 48].map((slot, at) => ({ hour: 497_300 + at, slot: String(slot) }));
  const cover = createCover({ hours, holes: [] }, rows, []);
  const lost = (end: number) => cover.lost({ address: key('f'), hour: 497_300, seen: '1' }, 497_300 + end);
  expect([1, 2, 3, 4].map((end) => lost(end) !== null)).toEqual([false, false, true, true]);
});

const time = (name: string, slot: bigint): LogRecord => ({
  ...{ kind: 'time', address: rawKey(name), slot, blockTime: timeAt(slot) },
});
const undated = { blockTime: null };

test.each([
  ['in one batch', 9],
  ['in batches of their own', 1],
])('a state without a time enters its hour once the time comes, whatever came after, %s', async (_, size) => {
  const into = await fresh();
  const records = [
    ...[state('g', 1n, 7n), state('g', 13n, 8n, undated), state('g', 14n, 9n, undated), state('g', 30n, 1n)],
    // The time of a state that is not the last of its hour; the last one's time does not come.
    time('g', 13n),
  ];
  await materialise(into, records, [size]);
  expect(await kept(into, 'g')).toEqual([
    { hour: 0, amount: '7', seen: '1', at: '1' },
    { hour: 1, amount: '8', seen: '13', at: '13' },
    { hour: 2, amount: '1', seen: '30', at: '30' },
  ]);
  // The account is unknown from each state without a time on.
  expect(await unseen(into, 'g')).toEqual([
    { after_slot: '12', to_slot: '13' },
    { after_slot: '13', to_slot: '14' },
  ]);
  await materialise(into, [time('g', 14n)], [1]);
  expect((await kept(into, 'g'))[1]).toEqual({ hour: 1, amount: '9', seen: '14', at: '14' });
});

test.each([
  ['in one batch', 9],
  ['in batches of their own', 1],
])(
  'an hour whose first slot had no time begins there once its time comes, so the hour before is known, %s',
  async (_, size) => {
    const into = await fresh();
    const untimed: LogRecord = { kind: 'marker', slot: 12n, parent: 11n, blockTime: null };
    const changed = state('first', 12n, 9n, undated);
    const markers = [marker(11n, 0n), changed, untimed, marker(13n), marker(24n, 13n)];
    await materialise(into, [state('first', 5n, 7n), ...markers], [size]);
    const lost = async (seen: string, hour: number) => {
      const hours = await into.query<{ hour: number; slot: string }>(
        'SELECT hour, slot FROM hour_slots FINAL ORDER BY hour',
      );
      const changes = (await unseen(into, 'first')) as { after_slot: string; to_slot: string }[];
      const rows = changes.map((row) => ({ address: key('first'), streamed: [], brought: [], ...row }));
      const end = 497_300 + hour;
      const cover = createCover({ hours, holes: [] }, rows, []);
      return cover.lost({ address: key('first'), hour: end - 1, seen }, end) !== null;
    };
    expect(await lost('5', 1)).toBe(true);
    const told = new Set<string>();
    const write = createMaterialiser({
      ...{ store: into, programId: PROGRAM },
      onChanged: (changes) => {
        for (const table of changes.keys()) told.add(table);
      },
    });
    await write(batchOf('accounts', logOf([time('first', 12n)], 6n)));
    expect(await kept(into, 'first')).toEqual([
      { hour: 0, amount: '7', seen: '5', at: '5' },
      { hour: 1, amount: '9', seen: '12', at: '12' },
    ]);
    expect([await lost('5', 1), await lost('5', 2), await lost('12', 2)]).toEqual([false, true, false]);
    expect([...told]).toContain('hour_slots');
  },
);

test('a reading without a time enters its hour once the time comes, one that repeats a state does not', async () => {
  const readAt = (slot: bigint, amount: bigint) => ({ ...read('h', slot, amount), ...undated });
  await materialise(store, [readAt(5n, 7n), readAt(8n, 7n), time('h', 8n)], [1]);
  expect(await kept(store, 'h')).toEqual([]);
  await materialise(store, [time('h', 5n), state('h', 10n, 9n)], [2], 2);
  expect(await kept(store, 'h')).toEqual([{ hour: 0, amount: '9', seen: '10', at: '10' }]);
  const other = { ...read('i', 5n, 7n), ...undated };
  await materialise(store, [other, time('i', 5n)], [2], 2);
  expect(await kept(store, 'i')).toEqual([{ hour: 0, amount: '7', seen: '5', at: '5' }]);
});

test.each([
  ['in one batch', 9],
  ['in batches of their own', 1],
])(
  'an hour in which a state was only read again gets the time of that state once that comes, %s',
  async (_, size) => {
    const into = await fresh();
    await materialise(into, [state('j', 1n, 7n, undated), read('j', 20n, 7n)], [size]);
    expect(await kept(into, 'j')).toEqual([{ hour: 1, amount: '7', seen: '20', at: null }]);
    await materialise(into, [time('j', 1n), read('j', 30n, 7n)], [size]);
    const hours = [1, 20, 30].map((slot, hour) => ({ hour, amount: '7', seen: `${slot}`, at: '1' }));
    expect(await kept(into, 'j')).toEqual(hours);
    // Applied by a process that reads that part of the log again.
    await materialise(into, [read('j', 20n, 7n)], [size]);
    expect(await kept(into, 'j')).toEqual(hours);
  },
);

test(`rows are the same however a log is cut into batches and reapplied (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const pick = (below: number) => Math.floor(random() * below);
  const records: LogRecord[] = [];
  // The chain's states; the stream brings some, at times late or twice, and readings bring what was there.
  const accounts = ['w', 'x'].map((name) => ({ name, amount: 0n, late: [] as LogRecord[] }));
  for (let slot = 1n; slot < 60n; slot += 1n) {
    for (const one of accounts) {
      if (pick(3) === 0) {
        one.amount = BigInt(pick(3));
        const when = pick(6) === 0 ? undated : {};
        if (pick(4) > 0) (pick(6) === 0 ? one.late : records).push(state(one.name, slot, one.amount, when));
      }
      if (pick(5) === 0)
        records.push({ ...read(one.name, slot, one.amount), ...(pick(4) === 0 ? undated : {}) });
      if (pick(9) === 0) records.push(...one.late.splice(0));
    }
    if (pick(15) === 0) records.push(...records.slice(-2));
    if (pick(4) > 0) records.push(marker(slot));
  }
  for (let slot = 1n; slot < 60n; slot += 2n) records.push(...accounts.map(({ name }) => time(name, slot)));
  const tables = async (of: Store) => ({
    waiting: await of.query('SELECT * FROM undated_hours FINAL ORDER BY address, slot'),
    hours: await of.query('SELECT * FROM account_hours FINAL ORDER BY address, hour'),
    streamed: await of.query('SELECT * FROM first_streamed FINAL ORDER BY address, hour'),
    unseen: await of.query('SELECT * FROM unseen_changes FINAL ORDER BY address, to_slot, after_slot'),
    slots: await of.query('SELECT * FROM hour_slots FINAL ORDER BY hour'),
    holes: await of.query('SELECT * FROM stream_holes FINAL ORDER BY to_slot, after_slot'),
  });
  const whole = await fresh();
  await materialise(whole, records, [records.length]);
  const expected = await tables(whole);
  expect(expected.hours.length).toBeGreaterThan(6);
  expect(expected.unseen.length).toBeGreaterThan(1);
  const cut = await fresh();
  await materialise(cut, records, [5, 1, 17]);
  expect(await tables(cut)).toEqual(expected);
  const again = await fresh();
  await materialise(again, records, [19, 8], 2);
  expect(await tables(again)).toEqual(expected);
});

test('an account left out of a slot is unknown at the end of that hour, and known from its next state on', async () => {
  const of = await fresh();
  const leftOut: LogRecord = { kind: 'unseen', address: rawKey('left'), slot: 8n };
  const states = [state('left', 5n, 5n), state('left', 14n, 14n)];
  for (const order of [
    [states[0], leftOut, states[1]],
    [...states, leftOut],
  ])
    await materialise(of, order as LogRecord[], [1], 2);
  const changes = (await unseen(of, 'left')) as { after_slot: string; to_slot: string }[];
  expect(changes).toEqual([{ after_slot: '7', to_slot: '9' }]);
  const row = { address: key('left'), streamed: ['9'], brought: [] };
  const left = { ...row, ...(changes[0] as (typeof changes)[0]) };
  const lost = (seen: string, hour: number, second: number) => {
    const hours = [0, second, 24].map((slot, at) => ({ hour: 497_300 + at, slot: String(slot) }));
    const cover = createCover({ hours, holes: [] }, [left], []);
    return cover.lost({ address: key('left'), hour: 497_300 + hour - 1, seen }, 497_300 + hour) !== null;
  };
  // The second hour begins some slots after the slot with the missed change, or in the very next one.
  for (const second of [12, 9])
    expect([lost('5', 1, second), lost('14', 2, second)], `${second}`).toEqual([true, false]);
});
