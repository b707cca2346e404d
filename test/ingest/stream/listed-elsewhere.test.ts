import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { listedState } from '../../../clickhouse/queries/status/stream-state.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { isHistoryRead } from '../../../ingest/stream/resume-unfinished.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, logOf, PROGRAM } from '../materialise/support/records.ts';
import { createLogModel } from '../support/log-model.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());
beforeEach(async () => {
  for (const table of ['applied', 'stream_state']) await store.command(`TRUNCATE TABLE ${table}`);
});

const apply = async (topic: 'accounts' | 'transactions' | 'readings', ...records: LogRecord[]) =>
  createMaterialiser({ store, programId: PROGRAM })(batchOf(topic, logOf(records)));
const marked = async (slot: bigint) => {
  const marker: LogRecord = { kind: 'marker', slot, parent: slot - 1n, blockTime: null };
  for (const topic of ['accounts', 'transactions'] as const) await apply(topic, marker);
};
/** Applies what ingestion wrote about lists so long ago. */
const told = (listed: boolean | undefined, listedSlot?: string | null, agoMs = 0): Promise<void> => {
  const readAt = Date.now() - agoMs;
  return apply('readings', {
    ...{ kind: 'reading', readAt },
    reading: {
      ...{ type: 'stream', connected: true, since: readAt, reason: null, addresses: 0, overRpc: 0 },
      ...(listed === undefined ? {} : { listed }),
      ...(listedSlot === undefined ? {} : { listedSlot }),
    },
  });
};
/** The list's slot that is taken over with a log that ends at this slot. */
const takenUp = async (position: bigint | null) => storedState(store).listedSlot(position);

test('a stored proof that lists are complete is taken over if the log reaches its slot, applied or not', async () => {
  expect(await takenUp(9n)).toBeNull();
  await told(true, '7');
  // A database that has just begun to read the log again.
  expect(await takenUp(9n)).toBe('7');
  expect(await takenUp(7n)).toBe('7');
  await marked(6n);
  expect(await takenUp(9n)).toBe('7');
  // A log that was stopped before that slot, or has lost it.
  expect(await takenUp(6n)).toBeNull();
  expect(await takenUp(null)).toBeNull();
  await told(false, null);
  expect(await takenUp(9n)).toBeNull();
});

test('a stored proof without a slot, of an older version, holds from the end of the log, however late it is applied', async () => {
  for (const agoMs of [0, 60_000]) {
    await told(true, undefined, agoMs);
    expect(await takenUp(null)).toBeNull();
    expect(await takenUp(9n)).toBe('9');
    await store.command('TRUNCATE TABLE stream_state');
  }
  await told(undefined);
  expect(await takenUp(9n)).toBeNull();
});

test('a report about lists without a slot counts as late if it had expired when it was applied', async () => {
  for (const [listed, value] of [
    [true, 1],
    [undefined, null],
  ] as const) {
    await told(listed, undefined, 60_000);
    expect(await listedState(store)).toEqual({ listed: value, slot: null, late: 1 });
    await told(listed);
    expect(await listedState(store)).toEqual({ listed: value, slot: null, late: 0 });
    await store.command('TRUNCATE TABLE stream_state');
  }
  await told(true, '7', 60_000);
  expect(await listedState(store)).toEqual({ listed: 1, slot: '7', late: 0 });
});

test('history does not count as read until the store has applied the log up to where it ended', async () => {
  const model = createLogModel();
  const gap: LogRecord = { kind: 'gap', fromSlot: 0n, toSlot: 5n, toTime: null, closed: true };
  await model.apply(batchOf('transactions', logOf([gap])));
  const isRead = (applied: bigint | null, position: bigint | null = 100n) =>
    isHistoryRead({ ...model, applied: async () => applied }, { startSlot: 0n, position });
  expect([await isRead(null), await isRead(99n), await isRead(100n)]).toEqual([false, false, true]);
  expect(await isRead(null, null)).toBe(true);
});
