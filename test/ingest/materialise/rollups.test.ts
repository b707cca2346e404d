import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { daySeries } from '../../../clickhouse/queries/analytics/day-series.ts';
import { policyTotals } from '../../../clickhouse/queries/analytics/policy-totals.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, EVENING, event, key, logOf, PROGRAM, routed, transaction } from './support/records.ts';

let store: Store;
/** The offset that the next record gets, by partition. */
let next: Map<number, bigint>;
beforeEach(async () => {
  store = await embeddedDatabase('several');
  next = new Map();
});
afterEach(() => store.close());

/** Applies records as the next batch of a partition. */
async function apply(records: LogRecord[], partition = 0): Promise<void> {
  const materialise = createMaterialiser({ store, programId: PROGRAM });
  const from = next.get(partition) ?? 0n;
  await materialise(batchOf('transactions', logOf(records, from), { partition }));
  next.set(partition, from + BigInt(records.length));
}

const MAX = (1n << 64n) - 1n;

describe('the totals', () => {
  test('of a policy are right beyond 64 bits', async () => {
    const claims = ['a', 'b', 'c'].map((name) =>
      transaction(name, 5n, [event('FeesClaimed', { quoteAmount: MAX, baseAmount: MAX }), routed(MAX)]),
    );
    await apply(claims);
    const totals = (await policyTotals(store, [key('mint')])).get(key('mint'));
    expect(totals).toMatchObject({
      fees_quote: (3n * MAX).toString(),
      fees_base: (3n * MAX).toString(),
      claim_count: '3',
      routed: (3n * MAX).toString(),
      last_claim: String(EVENING),
      last_swept: null,
    });
    const [day] = await daySeries(store);
    expect(day).toMatchObject({ day: '2026-05-05', routed_to_lp: (3n * MAX).toString(), profit: '0' });
  });

  test('of a policy add up over the partitions of the log', async () => {
    await apply([transaction('a', 5n, [routed(7n)])], 0);
    await apply([transaction('b', 5n, [routed(8n)])], 3);
    await apply([transaction('c', 6n, [routed(9n)])], 0);
    expect((await policyTotals(store, [key('mint')])).get(key('mint'))?.routed).toBe('24');
    expect((await daySeries(store)).map(({ routed_to_lp }) => routed_to_lp)).toEqual(['24']);
  });

  test('of a day lose an event that a corrected block time moves to the next day', async () => {
    const at = (blockTime: number, index: number | null) =>
      transaction('moved', 5n, [routed(7n)], { blockTime, index });
    await apply([transaction('stays', 4n, [routed(1n, 'other')]), at(EVENING, null)]);
    await apply([at(EVENING + 20, 2)]);
    expect((await daySeries(store)).map(({ day, routed_to_lp }) => [day, routed_to_lp])).toEqual([
      ['2026-05-05', '1'],
      ['2026-05-06', '7'],
    ]);
  });

  test('of a day are gone once its only event has moved to another day', async () => {
    await apply([transaction('moved', 5n, [routed(7n)], { index: null })]);
    await apply([transaction('moved', 5n, [routed(7n)], { blockTime: EVENING + 20 })]);
    expect((await daySeries(store)).map(({ day, routed_to_lp }) => [day, routed_to_lp])).toEqual([
      ['2026-05-06', '7'],
    ]);
  });

  test('count an event without a block time in no day until the time is known', async () => {
    await apply([transaction('a', 5n, [routed(7n)], { blockTime: null, index: null })]);
    expect(await daySeries(store)).toEqual([]);
    expect((await policyTotals(store, [key('mint')])).get(key('mint'))).toMatchObject({
      routed: '7',
      last_routed: null,
    });
    await apply([transaction('a', 5n, [routed(7n)])]);
    expect((await daySeries(store)).map(({ routed_to_lp }) => routed_to_lp)).toEqual(['7']);
  });

  test('are right for a batch that touches more policies than one statement takes', async () => {
    const records = Array.from({ length: 1_203 }, (_, at) =>
      transaction(`t${at}`, 5n, [routed(BigInt(at), `m${at}`)]),
    );
    await apply(records);
    const mints = records.map((_, at) => key(`m${at}`));
    const totals = await policyTotals(store, mints);
    expect(mints.map((mint) => totals.get(mint)?.routed)).toEqual(records.map((_, at) => String(at)));
  });
});
