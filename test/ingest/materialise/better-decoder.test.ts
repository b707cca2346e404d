import { afterEach, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { NARROWEST } from '../../../ingest/materialise/rollups/slot-intervals.ts';
import type { TransactionRecord } from '../../../schemas/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { createRandom } from '../../support/random.ts';
import { batchOf, EVENING, logOf, PROGRAM, routed, transaction } from './support/records.ts';
import { readTables, sumsOfFacts, sumsOfTotals } from './support/tables.ts';

const SEED = Number(process.env.SEED ?? 20_261_126);
const RUNS = process.env.NIGHTLY === '1' ? 30 : 1;
const SUMS = ['policy_totals', 'policy_spans', 'quote_days', 'quote_spans', 'kind_spans'];

const open: Store[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
});
const begun = async (): Promise<Store> => {
  const store = await embeddedDatabase('several');
  open.push(store);
  return store;
};

/** Transactions of a few policies, in three intervals around a midnight. */
const LOG: TransactionRecord[] = Array.from({ length: 31 }, (_, at) =>
  transaction(
    `read again ${at}`,
    BigInt(at < 13 ? at : at < 21 ? NARROWEST + at : 2 * NARROWEST + at),
    [routed(BigInt(2 ** at), `mint ${at % 3}`)],
    { blockTime: EVENING + at },
  ),
);
/** The log as read by a decoder that cannot decode some of it. */
const read = (undecoded: (at: number) => boolean): TransactionRecord[] =>
  LOG.map((one, at) => (undecoded(at) ? { ...one, payload: Uint8Array.of(7) } : one));

const writerOf = (store: Store, records: readonly TransactionRecord[]) => {
  const materialise = createMaterialiser({ store, programId: PROGRAM });
  const entries = logOf(records);
  return (from: number, to: number) => materialise(batchOf('transactions', entries.slice(from, to)));
};

/** Makes the engine merge now what it merges some time later: one row of each key and version is left. */
const merged = async (store: Store) => {
  for (const table of SUMS) await store.command(`OPTIMIZE TABLE ${table} FINAL`);
};

const totalsOf = async (store: Store) => {
  const { policyTotals, quoteDays } = await readTables(store);
  return { policyTotals, quoteDays };
};

test('sums match the facts after each batch that a better decoder reads again, cut shorter', async () => {
  const store = await begun();
  const before = writerOf(
    store,
    read((at) => at === 12),
  );
  await before(0, 10);
  await before(10, 21);
  expect(Object.keys(await sumsOfFacts(store))).toHaveLength(3);
  const after = writerOf(store, LOG);
  for (const [from, to] of [
    [10, 16],
    [16, 18],
    [18, 21],
  ] as const) {
    await after(from, to);
    expect(await sumsOfTotals(store)).toEqual(await sumsOfFacts(store));
  }
  await merged(store);
  expect(await sumsOfTotals(store)).toEqual(await sumsOfFacts(store));
});

test('sums match the facts after the rereading process is replaced in the middle of an interval', async () => {
  const store = await begun();
  const before = writerOf(
    store,
    read((at) => at === 12 || at === 19),
  );
  await before(0, 10);
  await before(10, 21);
  const again = writerOf(store, LOG);
  await again(10, 13);
  await again(13, 18);
  await again(18, 21);
  await writerOf(store, LOG)(21, 31);
  expect(await sumsOfTotals(store)).toEqual(await sumsOfFacts(store));
});

test(`sums match the facts wherever rereading begins and however often the process changes (seed ${SEED})`, async () => {
  const whole = await begun();
  await writerOf(whole, LOG)(0, LOG.length);
  const expected = await totalsOf(whole);
  for (let run = 0; run < RUNS; run += 1) {
    const random = createRandom(SEED + run);
    const pick = (below: number) => Math.floor(random() * below);
    const store = await begun();
    const lost = new Set(Array.from({ length: 4 }, () => pick(21)));
    const before = writerOf(
      store,
      read((at) => lost.has(at)),
    );
    for (let done = 0; done < 21; ) {
      const to = Math.min(21, done + 1 + pick(5));
      await before(done, to);
      done = to;
    }
    let after = writerOf(store, LOG);
    for (let done = 0; done < LOG.length; ) {
      const to = Math.min(LOG.length, done + 1 + pick(4));
      await after(done, to);
      expect(await sumsOfTotals(store), `run ${run}, ${done} to ${to}`).toEqual(await sumsOfFacts(store));
      done = to;
      // Another process has the partition, from a committed offset.
      if (pick(3) > 0) continue;
      after = writerOf(store, LOG);
      done = Math.max(0, done - pick(4));
    }
    expect(await totalsOf(store), `run ${run}`).toEqual(expected);
    await merged(store);
    expect(await sumsOfTotals(store), `run ${run}`).toEqual(await sumsOfFacts(store));
  }
});
