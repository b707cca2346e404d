import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { policyTotals } from '../../../clickhouse/queries/analytics/policy-totals.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { mustBeSameLog, mustReachApplied } from '../../../ingest/log/kafka/log-identity.ts';
import { OffsetGapError } from '../../../ingest/log/offset-gap.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { freshDatabase } from '../../support/database.ts';
import { batchOf, key, logOf, PROGRAM, routed, transaction } from './support/records.ts';

let store: Store;
beforeAll(async () => {
  store = await freshDatabase();
});
afterAll(() => store.close());

const at = (name: string, offset: bigint) =>
  batchOf('transactions', logOf([transaction(name, 5n, [routed(7n)])], offset));
const routedSoFar = async () => (await policyTotals(store, [key('mint')])).get(key('mint'))?.routed;

test('a batch that leaves something of history out is refused with what is to be read next', async () => {
  const materialise = createMaterialiser({ store, programId: PROGRAM });
  await materialise(at('a', 0n));
  await expect(materialise(at('c', 2n))).rejects.toMatchObject({
    constructor: OffsetGapError,
    next: 1n,
    message: 'transactions/0 goes on at 2, and only what is before 1 is applied',
  });
  expect(await routedSoFar()).toBe('7');
  await materialise(at('b', 1n));
  await materialise(at('c', 2n));
  expect(await routedSoFar()).toBe('21');
});

test('of readings the newest is enough', async () => {
  const materialise = createMaterialiser({ store, programId: PROGRAM });
  await expect(materialise(batchOf('readings', logOf([], 9n)))).resolves.toBeUndefined();
});

const log = (low: bigint, high: bigint) =>
  ({ offsets: async () => [{ partition: 0, low, high }] }) as unknown as KafkaClient;
const applied = new Map([
  ['accounts/0', 2n],
  ['transactions/0', 2n],
]);

test('a log that goes on where the database ends is the right one', async () => {
  await expect(mustBeSameLog(log(0n, 3n), 'x', 'index', applied)).resolves.toBeUndefined();
  await expect(mustBeSameLog(log(3n, 9n), 'x', 'index', applied)).resolves.toBeUndefined();
  await expect(mustBeSameLog(log(0n, 0n), 'x', 'index', new Map())).resolves.toBeUndefined();
});

test('a log that ends before what is applied is another log, and is refused', async () => {
  await expect(mustBeSameLog(log(0n, 2n), 'x', 'index', applied)).rejects.toThrow(
    /^index was filled from another log, or this one has lost its end: 2 of x-accounts\/0 is applied, which ends at 2\./,
  );
});

test('a log that has lost its end is not written to; one that has lost its beginning is', async () => {
  await expect(mustReachApplied(log(0n, 2n), 'x', 'index', applied)).rejects.toThrow(/has lost its end/);
  await expect(mustReachApplied(log(4n, 9n), 'x', 'index', applied)).resolves.toBeUndefined();
});

test('a log whose beginning is deleted before it was applied is refused', async () => {
  await expect(mustBeSameLog(log(4n, 9n), 'x', 'index', applied)).rejects.toThrow(
    /^index has nothing of x-accounts\/0 from 3 on, and retention has deleted what is before 4\./,
  );
  await expect(mustBeSameLog(log(1n, 9n), 'x', 'index', new Map())).rejects.toThrow(/from 0 on/);
});
