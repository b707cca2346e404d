import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import type { AppliedRow } from '../../../clickhouse/progress-tables.ts';
import type { Topic } from '../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { materialiseMetrics } from '../../../ingest/materialise/metrics.ts';
import { createRegistry } from '../../../runtime/process/metrics.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, logOf, marker, PROGRAM } from './support/records.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

/** A process that cannot apply partition 1 beyond slot 100. */
function process() {
  const insert: Store['insert'] = async (table, rows) => {
    const places = table === 'applied' ? (rows as AppliedRow[]) : [];
    if (places.some(({ log_partition: at, slot }) => at === 1 && BigInt(slot) > 100n))
      throw new Error('cannot be applied');
    await store.insert(table, rows);
  };
  const registry = createRegistry('materialise');
  const metrics = materialiseMetrics(registry, async () => new Map());
  const materialise = createMaterialiser({
    ...{ store: { ...store, insert }, programId: PROGRAM },
    onTakenOver: metrics.takenOver,
  });
  const apply = metrics.measured(materialise);
  let assignment = 0;
  return {
    assigned: () => {
      assignment += 1;
      metrics.assigned(new Map([['accounts' as Topic, [0, 1]]]));
    },
    apply: (partition: number, offset: number, slot: bigint) =>
      apply(batchOf('accounts', logOf([marker(slot)], BigInt(offset)), { partition, assignment })),
    applied: async () => {
      const values = (await registry.getSingleMetric('materialise_applied_slot')?.get())?.values ?? [];
      return Object.fromEntries(values.map(({ labels, value }) => [labels.partition, value]));
    },
  };
}

test('the metric of a stuck partition shows its applied slot, also after a new assignment or a restart', async () => {
  const first = process();
  first.assigned();
  await first.apply(0, 0, 9_000n);
  await first.apply(1, 0, 100n);
  await expect(first.apply(1, 1, 101n)).rejects.toThrow('cannot be applied');
  expect(await first.applied()).toEqual({ 0: 9_000, 1: 100 });
  first.assigned();
  await first.apply(0, 1, 9_001n);
  await expect(first.apply(1, 1, 101n)).rejects.toThrow('cannot be applied');
  expect(await first.applied()).toEqual({ 0: 9_001, 1: 100 });

  const next = process();
  next.assigned();
  await next.apply(0, 2, 9_002n);
  await expect(next.apply(1, 1, 101n)).rejects.toThrow('cannot be applied');
  await expect(next.apply(2, 0, 9_002n)).resolves.toBeUndefined();
  expect(await next.applied()).toEqual({ 0: 9_002, 1: 100, 2: 9_002 });
});

test('a partition that is taken away while its place is queried has no metric in this process', async () => {
  const registry = createRegistry('materialise');
  const metrics = materialiseMetrics(registry, async () => new Map());
  let isOwner = true;
  const query: Store['query'] = async (sql, params) => {
    const rows = await store.query(sql, params);
    if (isOwner) metrics.assigned(new Map([['accounts' as Topic, [0]]]));
    isOwner = false;
    return rows as never;
  };
  const materialise = createMaterialiser({
    ...{ store: { ...store, query }, programId: PROGRAM },
    onTakenOver: metrics.takenOver,
  });
  const batch = {
    ...batchOf('accounts', logOf([marker(9_003n)], 0n), { partition: 7 }),
    owned: () => isOwner,
  };
  await expect(metrics.measured(materialise)(batch)).rejects.toThrow('taken away');
  expect((await registry.getSingleMetric('materialise_applied_slot')?.get())?.values).toEqual([]);
});

test('partitions of readings, which have no markers, have no metric of the applied slot', async () => {
  const registry = createRegistry('materialise');
  const { takenOver } = materialiseMetrics(registry, async () => new Map());
  takenOver({ topic: 'readings', partition: 0, slot: 0n });
  expect((await registry.getSingleMetric('materialise_applied_slot')?.get())?.values).toEqual([]);
  takenOver({ topic: 'accounts', partition: 0, slot: 0n });
  expect((await registry.getSingleMetric('materialise_applied_slot')?.get())?.values).toMatchObject([
    { labels: { topic: 'accounts' }, value: 0 },
  ]);
});

test('the lag of a partition that comes back begins anew; that of one that stayed goes on', async () => {
  const registry = createRegistry('materialise');
  let end = 10n;
  const metrics = materialiseMetrics(registry, async () => new Map([0, 1].map((at) => [at, end])));
  const apply = metrics.measured(async () => {});
  const assigned = (...partitions: number[]) =>
    metrics.assigned(new Map([['accounts' as Topic, partitions]]));
  const lag = async () => {
    const values = (await registry.getSingleMetric('materialise_consumer_lag')?.get())?.values ?? [];
    return Object.fromEntries(values.map(({ labels, value }) => [labels.partition, value]));
  };
  assigned(0, 1);
  for (const partition of [0, 1])
    await apply(batchOf('accounts', logOf([marker(9_100n)], 7n), { partition }));
  expect(await lag()).toEqual({ 0: 2, 1: 2 });
  // Another process applies partition 0 meanwhile.
  assigned(1);
  end = 50_000n;
  assigned(0, 1);
  expect(await lag()).toEqual({ 1: 49_992 });
  await apply(batchOf('accounts', logOf([marker(9_101n)], 49_998n), { partition: 0 }));
  expect(await lag()).toEqual({ 0: 1, 1: 49_992 });
});
