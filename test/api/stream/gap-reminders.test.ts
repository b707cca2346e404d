import { expect, onTestFinished, test } from 'vitest';
import type { Latest } from '../../../api/latest/latest.ts';
import { type ActivityFeed, createActivityFeed } from '../../../api/stream/activity.ts';
import { createGapReminders } from '../../../api/stream/gap-reminders.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import type { ActivityResponse } from '../../../schemas/responses/coin/activity.ts';
import { batchOf, key, logOf, marker, PROGRAM } from '../../ingest/materialise/support/records.ts';
import { registering } from '../../ingest/materialise/support/registering.ts';
import { awaited } from '../../support/awaited.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { startApi } from '../support/api.ts';
import { mintRow, policyRow } from '../support/rows.ts';

const kindOf = ({ kind, derived }: { kind: string; derived?: true }) =>
  derived === true ? `${kind}, derived` : kind;

/** Follows a mint's events as a client that reads its list at each gap. */
function clientOf(feed: ActivityFeed, list: () => Promise<string[]>) {
  let [has, gaps]: [string[], number] = [[], 0];
  const look = async () => {
    for (const news of (await feed.news()).events) {
      if ('data' in news) has.push(kindOf(news.data as { kind: string }));
      else {
        expect(news.mint).toBe(key('mint'));
        gaps += 1;
        has = await list();
      }
    }
    return { has, gaps };
  };
  return { look, until: (so: object) => awaited(async () => expect(await look()).toEqual(so)) };
}

test('a gap is sent again once all writes under way are applied, for clients that read the list too early', async () => {
  const store = await embeddedDatabase('several');
  await store.insert('policies', [policyRow('mint', 'usd')]);
  await store.insert('mints', [mintRow('usd', 6)]);
  const api = await startApi(store, { memory: {} });
  onTestFinished(async () => {
    await api.close();
    await store.close();
  });
  let announced: Promise<void> | null = null;
  const written = Promise.withResolvers<void>();
  /** A store that announces no change until the test lets it. */
  const untold: Store = {
    ...store,
    insert: async (table, ...rest) => {
      if (table === 'changes' && announced !== null) {
        written.resolve();
        await announced;
      }
      return store.insert(table, ...rest);
    },
  };
  const apply = {
    transactions: createMaterialiser({ store: untold, programId: PROGRAM }),
    accounts: createMaterialiser({ store, programId: PROGRAM }),
  };
  const offsets = { accounts: 0n, transactions: 0n };
  const take = async (topic: keyof typeof apply, ...records: LogRecord[]) => {
    const first = offsets[topic];
    offsets[topic] += BigInt(records.length);
    await apply[topic](batchOf(topic, logOf(records, first)));
  };
  const reach = async (slot: bigint, ...records: LogRecord[]) => {
    await take('transactions', ...records, marker(slot));
    await take('accounts', marker(slot));
  };
  const known = (slots: { slot: string; highest_slot: string }) =>
    awaited(async () =>
      expect((await api.latest.read((view) => view.state().applied)).value).toMatchObject(slots),
    );
  let now = 0;
  const feed = createActivityFeed(api.latest, () => now);
  const list = async () =>
    (await api.get<ActivityResponse>(`/coins/${key('mint')}/activity`)).body.items.map(kindOf);
  const { look, until } = clientOf(feed, list);

  await reach(1_000n);
  await known({ slot: '1000', highest_slot: '1000' });
  await feed.begin();
  await reach(1_001n, registering(1_001n, ['a'], 0));
  await until({ has: ['VenueRegistered, derived'], gaps: 0 });
  await awaited(async () => expect(await list()).toEqual(['VenueRegistered, derived']));

  const announce = Promise.withResolvers<void>();
  announced = announce.promise;
  const applied = take('transactions', registering(1_001n, ['a'], 1), marker(1_002n));
  await written.promise;
  await take('accounts', marker(1_003n));
  await until({ has: ['VenueRegistered, derived'], gaps: 1 });
  // However long that takes and however far others are: sending it now would be too early.
  for (const slot of [1_004n, 1_005n]) {
    now += 5_000;
    await take('accounts', marker(slot));
    await known({ slot: '1001', highest_slot: String(slot) });
    expect(await look()).toEqual({ has: ['VenueRegistered, derived'], gaps: 1 });
  }

  announce.resolve();
  await applied;
  await reach(1_006n);
  await known({ slot: '1006', highest_slot: '1006' });
  // Nor before other processes can know of it.
  expect(await look()).toEqual({ has: ['VenueRegistered, derived'], gaps: 1 });
  now += 2_000;
  await reach(1_007n);
  await until({ has: ['VenueRegistered'], gaps: 2 });
  for (const slot of [1_008n, 1_009n]) {
    now += 60_000;
    await reach(slot);
    await known({ slot: String(slot), highest_slot: String(slot) });
    expect(await look()).toEqual({ has: ['VenueRegistered'], gaps: 2 });
  }
});

test('while the index stands still a gap is sent again after ten seconds, and once more when it moves on', async () => {
  const row = { slot: '1000', signature: 's', position: 9, mint: key('mint') };
  let rows = [row];
  const empty = { query: async () => rows, aside: () => empty } as unknown as Store;
  let applied = { slot: '1000', highest_slot: '1000', late_batches: 0 };
  const latest = {
    currentStore: () => empty,
    stillHolds: (one: { of: object }) => one.of === applied,
    read: async (make: (view: object) => unknown) => ({
      value: make({ state: () => ({ applied, gaps: [], openGaps: [] }) }),
      of: applied,
    }),
  } as unknown as Latest;
  let now = 0;
  const feed = createActivityFeed(latest, () => now);
  await feed.begin();
  const told = async () => (await feed.news()).events;
  rows = [];
  applied = { ...applied };
  const gap = { mint: key('mint'), position: feed.tip() };
  expect(await told()).toEqual([{ ...gap, position: { ...gap.position, recent: 0, ordinal: 0 } }]);
  now = 9_999;
  expect(await told()).toEqual([]);
  now = 10_000;
  expect(await told()).toEqual([{ mint: key('mint'), position: feed.tip() }]);
  now = 30_000;
  expect(await told()).toEqual([]);
  // The index went on: everything that was under way is there by then.
  for (const [slot, ms, gaps] of [
    [1_001, 30_000, 0],
    [1_002, 30_400, 0],
    [1_003, 32_400, 1],
    [1_004, 40_000, 0],
  ] as const) {
    now = ms;
    applied = { ...applied, slot: String(slot), highest_slot: String(slot) };
    expect(await told()).toHaveLength(gaps);
  }
});

test('a gap that is sent for a mint whose reminder is pending restarts the wait, and is still sent again', () => {
  const position = { slot: 5n, ordinal: 0, recent: 0, derived: 0, closedGaps: 0, late: 0 };
  const once = createGapReminders();
  const told = (mint: string, now: number) => once.noteSent([{ mint, position }], now);
  told('a', 0);
  told('b', 0);
  expect(once.dueAt({ slot: 8n, highest: 8n }, 1_999)).toEqual([]);
  expect(once.dueAt({ slot: 8n, highest: 9n }, 2_000)).toEqual([]);
  told('b', 2_000);
  expect(once.dueAt({ slot: 9n, highest: 12n }, 3_000)).toEqual([]);
  expect(once.dueAt({ slot: 10n, highest: 12n }, 3_400)).toEqual([]);
  expect(once.dueAt({ slot: 10n, highest: 12n }, 5_399)).toEqual([]);
  expect(once.dueAt({ slot: 11n, highest: 12n }, 5_400)).toEqual(['a']);
  once.reminded([{ mint: 'a', position }]);
  expect(once.dueAt({ slot: 13n, highest: 13n }, 6_000)).toEqual([]);
  expect(once.dueAt({ slot: 14n, highest: 14n }, 8_000)).toEqual(['b']);
  once.reminded([{ mint: 'b', position }]);
  expect(once.dueAt({ slot: 99n, highest: 99n }, 19_000)).toEqual([]);
  expect(once.dueAtStandstill(10_000)).toEqual([]);
});
