import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { appliedOffsets } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import type { LogBatch } from '../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { firstSlotOfInterval, type Touched } from '../../../ingest/materialise/rollups/slot-intervals.ts';
import type { RecomputeRecord } from '../../../schemas/records.ts';
import { freshDatabase } from '../../support/database.ts';
import { batchOf, logOf, marker, PROGRAM, routed, transaction } from '../materialise/support/records.ts';
import { sumsOfFacts, sumsOfTotals } from '../materialise/support/tables.ts';

let store: Store;
beforeEach(async () => {
  store = await freshDatabase();
});
afterEach(() => store.close());

/** One policy, eight transactions. An older decoder read the second one's amount as 1. */
const LOG = logOf([
  ...Array.from({ length: 8 }, (_, at) =>
    transaction(`t${at}`, BigInt(at + 1), [routed(BigInt(at + 1) * 10n)]),
  ),
  marker(8n),
]);
const older = (batch: LogBatch): LogBatch => ({
  ...batch,
  entries: batch.entries.map(({ offset, record }) => ({
    offset,
    record: offset === 1n ? transaction('t1', 2n, [routed(1n)]) : record,
  })),
});

const live = () => createMaterialiser({ store, programId: PROGRAM });
const rereader = (recomputeByOwner: (partition: number, touched: Touched) => Promise<void>) =>
  createMaterialiser({ store, programId: PROGRAM, recomputeByOwner });
const recomputeAt = (offset: bigint, { mints, intervals }: Touched) => {
  const slots = [...intervals].map(firstSlotOfInterval);
  const record: RecomputeRecord = { kind: 'recompute', partition: 0, mints: [...mints], slots };
  return batchOf('transactions', [{ offset, record }]);
};

/**
 * The owner applies 0 to 3; its next batch, 4 to 8, computes the sums and is held before it writes them. Meanwhile
 * `correct` writes the corrected fact. Then the owner goes on.
 */
async function ownerHeldWhile(correct: () => Promise<void>): Promise<void> {
  await live()(older(batchOf('transactions', LOG.slice(0, 4))));
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const held: Store = {
    ...store,
    command: async (sql, params = {}) => {
      if (!sql.includes('INSERT INTO policy_totals')) return store.command(sql, params);
      await store.command('CREATE TABLE read_before AS policy_totals ENGINE = Memory');
      await store.command(sql.replace('INSERT INTO policy_totals', 'INSERT INTO read_before'), params);
      reached.resolve();
      await go.promise;
      await store.command('INSERT INTO policy_totals SELECT * FROM read_before');
    },
  };
  const late = createMaterialiser({ store: held, programId: PROGRAM })(batchOf('transactions', LOG.slice(4)));
  await reached.promise;
  await correct();
  go.resolve();
  await late;
}

describe('a fact that is corrected while its owner is in mid-recompute', () => {
  test('is in the sums once the owner has applied the recompute request that follows in the log', async () => {
    const asked: Touched[] = [];
    await ownerHeldWhile(() =>
      rereader(async (_, touched) => void asked.push(touched))(batchOf('transactions', LOG.slice(0, 4))),
    );
    expect(await sumsOfTotals(store)).not.toEqual(await sumsOfFacts(store));
    await live()(recomputeAt(9n, asked[0] as Touched));
    expect(await sumsOfTotals(store)).toEqual(await sumsOfFacts(store));
    expect(Object.values(await sumsOfFacts(store))).toEqual([{ routed: '360', events: '8' }]);
  });

  test('would be missing if sums were recomputed beside the owner, at the applied offset', async () => {
    await ownerHeldWhile(() => live()(batchOf('transactions', LOG.slice(0, 4))));
    expect(await sumsOfTotals(store)).not.toEqual(await sumsOfFacts(store));
  });
});

describe('a part of the log that is read again beside its owner', () => {
  test('leaves applied offsets unchanged, and its transactions are stored as whole only after the recompute request', async () => {
    await live()(older(batchOf('transactions', LOG.slice(0, 4))));
    const before = await appliedOffsets(store);
    await store.command('TRUNCATE TABLE transactions');
    let wholeBefore = -1;
    // Farther than the owner has come: if the offset were moved, the owner would skip what lies between.
    await rereader(async () => {
      wholeBefore = (await store.query('SELECT 1 FROM transactions')).length;
    })(batchOf('transactions', LOG.slice(0, 6)));
    expect(wholeBefore).toBe(0);
    expect(await store.query('SELECT 1 FROM transactions')).toHaveLength(6);
    expect(await appliedOffsets(store)).toEqual(before);
  });
});
