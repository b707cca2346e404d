import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Latest } from '../../../api/latest/latest.ts';
import { createActivityFeed } from '../../../api/stream/activity.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import {
  batchOf,
  key,
  logOf,
  marker,
  PROGRAM,
  routed,
  transaction,
} from '../../ingest/materialise/support/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { NOW, startApi, type TestApi } from '../support/api.ts';
import { type Listener, listenTo } from './support/listen.ts';

const CAME_LATE = 'events came late, in slots that were told already';

let store: Store;
let api: TestApi;
let apply: ReturnType<typeof createMaterialiser>;
const offsets = { accounts: 0n, transactions: 0n };

beforeAll(async () => {
  store = await embeddedDatabase();
  apply = createMaterialiser({ store, programId: PROGRAM });
  // The clock stands: after the first, late events are only told together with another gap.
  api = await startApi(store, { streamClock: () => 0 });
  await reach(1_000n);
});
afterAll(async () => {
  await api.close();
  await store.close();
});

async function take(topic: keyof typeof offsets, ...records: LogRecord[]): Promise<void> {
  await apply(batchOf(topic, logOf(records, offsets[topic])));
  offsets[topic] += BigInt(records.length);
  api.at(NOW);
}
/** Applies a slot with its events, and its marker after them. */
async function reach(slot: bigint, ...events: LogRecord[]): Promise<void> {
  await take('transactions', ...events, marker(slot));
  await take('accounts', marker(slot));
}
const routedIn = (slot: bigint) => transaction(`in ${slot}`, slot, [routed(slot)]);
const told = ({ heard }: Listener) =>
  heard.map(({ event, data }) => (event === 'activity' ? Number(data.slot) : data.reason));

test('an event in a slot of long ago is sent as a gap, once, to listeners and to returning clients', async () => {
  const path = `${api.url}/stream/activity`;
  const other = await listenTo(`${path}?mint=${key('nobody')}`);
  const listener = await listenTo(path);
  const began = await listener.firstId();
  await reach(1_001n, routedIn(1_001n));
  await listener.until(1);
  // Nothing of the slot was known until now, two minutes later.
  await reach(1_300n, routedIn(1_300n));
  await listener.until(2);
  await reach(1_301n, routedIn(1_003n));
  await listener.until(3);
  await other.until(1);
  await reach(1_302n, routedIn(1_302n));
  await listener.until(4);
  expect(told(listener)).toEqual([1_001, 1_300, CAME_LATE, 1_302]);
  expect([told(other), other.heard[0]?.data.read]).toEqual([[CAME_LATE], `/coins/${key('nobody')}/activity`]);

  const [first, second, gap] = listener.heard;
  for (const id of [began, first?.id, second?.id]) {
    const back = await listenTo(path, id);
    await back.until(1);
    expect(told(back), id).toEqual([CAME_LATE]);
    back.close();
    await back.ended;
  }
  const after = await listenTo(path, gap?.id);
  await after.until(1);
  expect(told(after)).toEqual([1_302]);
  for (const one of [listener, other, after]) {
    one.close();
    await one.ended;
  }
});

const gapOf = (fromSlot: bigint, toSlot: bigint, closed: boolean): LogRecord => ({
  ...{ kind: 'gap', fromSlot, toSlot, toTime: null, closed },
});

test('a gap of history that is opened anew and closed is reported to listeners and to a client that was away', async () => {
  const WAS_CLOSED = 'a gap of history was closed: its events are in the list';
  const path = `${api.url}/stream/activity`;
  const listener = await listenTo(path);
  await listener.firstId();
  await reach(1_400n, gapOf(100n, 200n, false), routedIn(150n));
  await reach(1_401n, gapOf(100n, 100n, true));
  await listener.until(1);
  await reach(1_402n, routedIn(1_402n));
  await listener.until(2);
  expect(told(listener)).toEqual([WAS_CLOSED, 1_402]);
  // The client is away from here on.
  const id = listener.heard[1]?.id;
  await reach(1_403n, gapOf(100n, 180n, false));
  await listener.until(3);
  await reach(1_404n, routedIn(160n), gapOf(100n, 100n, true));
  await listener.until(4);
  await reach(1_405n, routedIn(1_405n));
  await listener.until(5);
  expect(told(listener).slice(2)).toEqual([WAS_CLOSED, WAS_CLOSED, 1_405]);
  const back = await listenTo(path, id);
  await back.until(1);
  expect(told(back)).toEqual([CAME_LATE]);
  const after = await listenTo(path, listener.heard[3]?.id);
  await after.until(1);
  expect(told(after)).toEqual([1_405]);
  for (const one of [listener, back, after]) {
    one.close();
    await one.ended;
  }
});

test('a client behind more events than are looked at is sent a gap, and none of those events is read', async () => {
  const asked: string[] = [];
  let isMuch = true;
  const counting = {
    query: async (sql: string, params: { many?: number } = {}) => {
      asked.push(sql);
      if (sql.includes('count() AS n')) return [{ n: String((params.many ?? 0) - (isMuch ? 0 : 1)) }];
      return [];
    },
    aside: () => counting,
  } as unknown as Store;
  const applied = { slot: '1000', highest_slot: '1000', late_batches: 0 };
  const latest = {
    currentStore: () => counting,
    read: async (make: (view: object) => unknown) => ({
      value: make({ state: () => ({ applied, gaps: [], openGaps: [] }) }),
    }),
  } as unknown as Latest;
  const feed = createActivityFeed(latest);
  await feed.begin();
  const since = { ...feed.tip(), slot: 10n };
  asked.length = 0;
  expect(await feed.missed(since, feed.tip(), null)).toEqual({
    events: [],
    gap: 'the position is too old',
  });
  expect(asked).toHaveLength(1);
  isMuch = false;
  expect(await feed.missed(since, feed.tip(), null)).toEqual({ events: [], gap: null });
  expect(asked.filter((sql) => sql.startsWith('SELECT slot, signature'))).toHaveLength(1);
});

test('while late events keep coming, a gap is sent at most every ten seconds, and no client counts as up to date', async () => {
  const applied = { slot: '1000', highest_slot: '1000', late_batches: 0 };
  const empty = { query: async () => [], aside: () => empty } as unknown as Store;
  const latest = {
    currentStore: () => empty,
    stillHolds: ({ value }: { value: { late: number } }) => value.late === applied.late_batches,
    read: async (make: (view: object) => unknown) => ({
      value: make({ state: () => ({ applied: { ...applied }, gaps: [], openGaps: [] }) }),
    }),
  } as unknown as Latest;
  let now = 0;
  const feed = createActivityFeed(latest, () => now);
  await feed.begin();
  const look = async () => [(await feed.news()).gap, feed.tip().late];
  applied.late_batches = 1;
  expect(await look()).toEqual([CAME_LATE, 1]);
  now = 1_000;
  applied.late_batches = 2;
  expect([await look(), await look()]).toEqual(Array(2).fill([null, 1]));
  applied.late_batches = 7;
  expect(await look()).toEqual([null, 1]);
  // A client that another process told of it has a higher count than this.
  const since = { ...feed.tip(), late: 2 };
  expect((await feed.missed(since, feed.tip(), null)).gap).toBe(CAME_LATE);
  now = 10_000;
  expect([await look(), await look()]).toEqual([
    [CAME_LATE, 7],
    [null, 7],
  ]);
});
