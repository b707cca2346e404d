import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { appliedState } from '../../clickhouse/queries/progress/index-state.ts';
import { declarePartitions } from '../../clickhouse/queries/progress/log-partitions.ts';
import { freshDatabase } from '../support/database.ts';

let store: Store;
beforeAll(async () => {
  store = await freshDatabase();
});
afterAll(() => store.close());

const marker = (topic: string, partition: number, slot: number) => ({
  ...{ topic, log_partition: partition, log_offset: '1', slot: String(slot), block_time: 1_760_000_000 },
  ...{ last_signature: null, last_signature_slot: '0', last_signature_index: 0, applied_at: '1' },
});

test('no slot counts as applied before every declared partition has a marker', async () => {
  await declarePartitions(store, { accounts: 1, transactions: 2 });
  await store.insert('applied', [marker('accounts', 0, 7), marker('transactions', 1, 9)]);
  expect(await appliedState(store)).toMatchObject({ slot: '0', block_time: null, transaction_partitions: 2 });
  await store.insert('applied', [marker('transactions', 0, 8)]);
  expect(await appliedState(store)).toMatchObject({ slot: '7', block_time: '1760000000' });
});

test('the followed slot is the lowest of all partitions, with the newest time that one at it knows', async () => {
  const PLACES = [
    ['accounts', 0],
    ['transactions', 0],
    ['transactions', 1],
  ] as const;
  const followedAt = async (
    offset: number,
    times: readonly (number | null)[],
    followed = ['18', '18', '18'],
  ) => {
    const rows = PLACES.map(([topic, partition], at) => ({
      ...marker(topic, partition, offset),
      ...{ log_offset: String(offset), followed: followed[at], followed_time: times[at] },
    }));
    await store.insert('applied', rows);
    const state = await appliedState(store);
    return [state.followed, state.followed_time];
  };
  // A process that has not streamed the slot has no time, or that of an earlier slot.
  expect(await followedAt(20, [1_000, 900, null])).toEqual(['18', '1000']);
  expect(await followedAt(21, [null, 1_000, 900])).toEqual(['18', '1000']);
  expect(await followedAt(22, [900, null, 1_000])).toEqual(['18', '1000']);
  expect(await followedAt(23, [null, null, null])).toEqual(['18', null]);
  expect(await followedAt(24, [1_000, null, 1_000], ['18', '17', '18'])).toEqual(['17', null]);
});

test('declaring the same number of partitions again is accepted; another is an error that says what to do', async () => {
  await declarePartitions(store, { accounts: 1, transactions: 2 });
  await expect(declarePartitions(store, { accounts: 1, transactions: 3 })).rejects.toThrow(
    /topic of transactions has 3 partitions, .* filled from 2: .* KAFKA_TOPIC_PREFIX/,
  );
});
