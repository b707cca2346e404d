import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { policyTotals } from '../../../clickhouse/queries/analytics/policy-totals.ts';
import { type AppliedPlace, appliedPlaces } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { assertLogReachesApplied, assertSameLog } from '../../../ingest/log/kafka/log-identity.ts';
import { OffsetGapError } from '../../../ingest/log/offset-gap.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, key, logOf, PROGRAM, routed, transaction } from './support/records.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

const at = (name: string, offset: bigint) =>
  batchOf('transactions', logOf([transaction(name, 5n, [routed(7n)])], offset));
const routedSoFar = async () => (await policyTotals(store, [key('mint')])).get(key('mint'))?.routed;

test('a batch that skips an offset is refused with the next offset to apply', async () => {
  const materialise = createMaterialiser({ store, programId: PROGRAM });
  await materialise(at('a', 0n));
  await expect(materialise(at('c', 2n))).rejects.toMatchObject({
    constructor: OffsetGapError,
    next: 1n,
    message: 'transactions/0: the next batch begins at 2, but 1 is the next offset to apply',
  });
  expect(await routedSoFar()).toBe('7');
  await materialise(at('b', 1n));
  await materialise(at('c', 2n));
  expect(await routedSoFar()).toBe('21');
});

test('a batch of readings may skip offsets', async () => {
  const materialise = createMaterialiser({ store, programId: PROGRAM });
  await expect(materialise(batchOf('readings', logOf([], 9n)))).resolves.toBeUndefined();
});

/** @param written when each record was appended, from `low` on; records beyond the list are infinitely old */
const log = (low: bigint, high: bigint, written: readonly number[] = []) => ({
  offsets: async () => [{ partition: 0, low, high }],
  offsetsAt: async (_: string, millis: number) => {
    const at = written.findIndex((one) => one >= millis);
    return new Map([[0, at === -1 ? high : low + BigInt(at)]]);
  },
});
const place: AppliedPlace = { offset: 2n, writtenAt: 50 };
const applied = new Map([
  ['accounts/0', place],
  ['transactions/0', place],
]);

test('a log that goes on where the database ends is accepted', async () => {
  await expect(assertSameLog(log(0n, 3n), 'x', 'index', applied)).resolves.toBeUndefined();
  await expect(assertSameLog(log(3n, 9n), 'x', 'index', applied)).resolves.toBeUndefined();
  await expect(assertSameLog(log(0n, 0n), 'x', 'index', new Map())).resolves.toBeUndefined();
});

test('a log that ends before what is applied is refused as another log', async () => {
  await expect(assertSameLog(log(0n, 2n), 'x', 'index', applied, 1)).rejects.toThrow(
    /^index was filled from another log, or this one has lost its end: 2 of x-accounts\/0 is applied, which ends at 2\./,
  );
});

test('a log that has lost its end is not written to; one that has lost its beginning is', async () => {
  await expect(assertLogReachesApplied(log(0n, 2n), 'x', 'index', applied, 1)).rejects.toThrow(
    /has lost its end/,
  );
  await expect(assertLogReachesApplied(log(4n, 9n), 'x', 'index', applied)).resolves.toBeUndefined();
});

test('a log that seems too short is asked again, since a stale leader may have answered', async () => {
  const ends = [2n, 2n, 2n, 2n, 3n];
  const stale = {
    ...log(0n, 3n),
    offsets: async () => [{ partition: 0, low: 0n, high: ends.shift() ?? 3n }],
  };
  await expect(assertSameLog(stale, 'x', 'index', applied, 1)).resolves.toBeUndefined();
  expect(ends).toEqual([]);
});

test('a log that lost its end and grew past it is recognised by newer records at applied offsets', async () => {
  await expect(assertLogReachesApplied(log(0n, 9n, [10, 90, 91]), 'x', 'index', applied, 1)).rejects.toThrow(
    /^index was filled from another log, or .* grown past it: of x-accounts\/0 what is before 3 is applied .* but 1 was written later\. .*KAFKA_TOPIC_PREFIX/,
  );
  // Clocks go back now and then: a later record may have any earlier time.
  await expect(
    assertSameLog(log(0n, 9n, [50, 10, 20, 5, 60]), 'x', 'index', applied),
  ).resolves.toBeUndefined();
  const unknown = new Map([['accounts/0', { ...place, writtenAt: null }]]);
  await expect(
    assertLogReachesApplied(log(0n, 9n, [10, 90, 91]), 'x', 'index', unknown),
  ).resolves.toBeUndefined();
});

test('the newest append time is stored with the applied place, across batches and processes', async () => {
  const apply = (name: string, offset: bigint, writtenAt: number) =>
    createMaterialiser({ store, programId: PROGRAM })({ ...at(name, offset), partition: 7, writtenAt });
  await apply('a', 0n, 70);
  await apply('b', 1n, 40);
  expect((await appliedPlaces(store)).get('transactions/7')).toEqual({ offset: 1n, writtenAt: 70 });
  await apply('c', 2n, 80);
  expect((await appliedPlaces(store)).get('transactions/7')).toEqual({ offset: 2n, writtenAt: 80 });
});

test('a log whose records were deleted before they were applied is refused', async () => {
  await expect(assertSameLog(log(4n, 9n), 'x', 'index', applied, 1)).rejects.toThrow(
    /^index has nothing of x-accounts\/0 from 3 on, and retention has deleted what is before 4\./,
  );
  await expect(assertSameLog(log(1n, 9n), 'x', 'index', new Map(), 1)).rejects.toThrow(/from 0 on/);
});
