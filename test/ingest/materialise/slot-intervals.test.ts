import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Params, Store } from '../../../clickhouse/client.ts';
import { daySeries } from '../../../clickhouse/queries/analytics/day-series.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { createRollups } from '../../../ingest/materialise/rollups/recompute.ts';
import { intervalOf, WIDTHS } from '../../../ingest/materialise/rollups/slot-intervals.ts';
import type { RecomputeRecord, TransactionRecord } from '../../../schemas/records.ts';
import { freshDatabase } from '../../support/database.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, EVENING, key, logOf, PROGRAM, routed, transaction } from './support/records.ts';
import { sumsOfTotals } from './support/tables.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);
const PARTITIONS = 2;
const MINTS = ['a', 'b', 'c'];

let store: Store;
beforeEach(async () => {
  store = await embeddedDatabase('several');
});
afterEach(() => store.close());

/** A transaction's Routed event: amount, mint and time; a later reading may have a better block time. */
interface Fact {
  slot: number;
  mint: string;
  amount: bigint;
  partition: number;
  blockTime: number;
}

const slot = fc
  .tuple(fc.constantFrom(1, ...WIDTHS), fc.integer({ min: 0, max: 5 }), fc.integer({ min: -1, max: 1 }))
  .map(([width, times, beside]) => Math.max(0, width * times + beside));
const blockTime = fc.integer({ min: EVENING - 90_000, max: EVENING + 90_000 });
const fact: fc.Arbitrary<Fact> = fc.record({
  slot,
  mint: fc.constantFrom(...MINTS),
  amount: fc.bigInt({ min: 1n, max: 1_000n }),
  partition: fc.nat({ max: PARTITIONS - 1 }),
  blockTime,
});
/** A later reading of a fact, in the order of the log. */
interface Reading {
  of: number;
  blockTime: number;
  /** Whether its batch ends after it. */
  ends: boolean;
}

const readings: fc.Arbitrary<Reading[]> = fc.array(
  fc.record({ of: fc.nat(), blockTime, ends: fc.boolean() }),
  { maxLength: 15 },
);

const DAY_SECONDS = 86_400;
/** Days between two runs of the property, which share the database and its intervals. */
const APART = 10;

describe(`sums of slot intervals (seed ${SEED})`, () => {
  test('add up, wherever slots lie, batches are cut and midnight falls', async () => {
    const materialise = createMaterialiser({ store, programId: PROGRAM });
    const next = Array.from({ length: PARTITIONS }, () => 0n);
    let runs = 0;

    const run = async (facts: Fact[], again: Reading[]) => {
      runs += 1;
      const since = runs * APART * DAY_SECONDS;
      const nameOf = (mint: string) => `${mint} of run ${runs}`;
      const logs = Array.from({ length: PARTITIONS }, () => [[]] as TransactionRecord[][]);
      const append = (at: number, { partition, slot, mint, amount, blockTime }: Fact, index: number | null) =>
        logs[partition]?.at(-1)?.push(
          transaction(`t${at} of run ${runs}`, BigInt(slot), [routed(amount, nameOf(mint))], {
            index,
            blockTime: blockTime + since,
          }),
        );
      const last = new Map(facts.map((one, at) => [at, one]));
      for (const [at, one] of last) append(at, one, null);
      for (const { of, blockTime, ends } of again) {
        const at = of % facts.length;
        const one = { ...(last.get(at) as Fact), blockTime };
        last.set(at, one);
        append(at, one, 1);
        if (ends) logs[one.partition]?.push([]);
      }
      await Promise.all(
        logs.map(async (batches, partition) => {
          for (const records of batches) {
            const first = next[partition] as bigint;
            next[partition] = first + BigInt(records.length);
            await materialise(batchOf('transactions', logOf(records, first), { partition }));
          }
        }),
      );

      const sums = new Map<string, { routed: bigint; events: number }>();
      const days = new Map<string, bigint>();
      for (const { mint, amount, blockTime } of last.values()) {
        const sum = sums.get(mint) ?? { routed: 0n, events: 0 };
        sums.set(mint, { routed: sum.routed + amount, events: sum.events + 1 });
        const day = new Date((blockTime + since) * 1000).toISOString().slice(0, 10);
        days.set(day, (days.get(day) ?? 0n) + amount);
      }
      const served = await sumsOfTotals(store);
      for (const mint of MINTS) {
        const sum = sums.get(mint);
        expect(served[key(nameOf(mint))]).toEqual(
          sum === undefined ? undefined : { routed: String(sum.routed), events: String(sum.events) },
        );
      }
      const from = new Date((EVENING + since - 3 * DAY_SECONDS) * 1000).toISOString().slice(0, 10);
      const series = (await daySeries(store)).filter(({ day }) => day >= from);
      expect(series.map((row) => [row.day, row.routed_to_lp])).toEqual(
        [...days].map(([day, sum]) => [day, String(sum)]).sort(),
      );
    };
    await fc.assert(fc.asyncProperty(fc.array(fact, { minLength: 1, maxLength: 25 }), readings, run), {
      numRuns: process.env.NIGHTLY === '1' ? 300 : 6,
      seed: SEED,
    });
  });

  test('are computed from the facts of the intervals that a batch touched, and no others', async () => {
    const materialise = createMaterialiser({ store, programId: PROGRAM });
    const far = WIDTHS.map((width, at) => transaction(`far${at}`, BigInt(width) * 3n, [routed(10n)]));
    await materialise(batchOf('transactions', logOf([transaction('near', 1n, [routed(1n)]), ...far])));
    for (const table of ['events', 'events_by_slot']) await store.command(`TRUNCATE TABLE ${table}`);
    await materialise(batchOf('transactions', logOf([transaction('new', 2n, [routed(100n)])], 4n)));
    expect(await sumsOfTotals(store)).toEqual({ [key('mint')]: { routed: '130', events: '4' } });
    expect((await daySeries(store)).map((row) => row.routed_to_lp)).toEqual(['130']);
  });
});

test('sums are right where a batch touched more intervals than one query list may hold', async () => {
  const server = await freshDatabase();
  try {
    const materialise = createMaterialiser({ store: server, programId: PROGRAM });
    const slots = Array.from({ length: 16_000 }, (_, at) => BigInt(100_000 + at) * BigInt(WIDTHS[0]));
    const facts = slots
      .filter((_, at) => at % 5_000 === 0)
      .map((slot, at) => transaction(`t${at}`, slot, [routed(10n ** BigInt(at))], { index: null }));
    // A replay asks for so many slots in one record.
    const asked = [slots.slice(0, 10_000), slots.slice(10_000)].map(
      (some): RecomputeRecord => ({ kind: 'recompute', partition: 0, mints: [key('mint')], slots: some }),
    );
    await materialise(batchOf('transactions', logOf([...facts, ...asked])));
    expect(await sumsOfTotals(server)).toEqual({ [key('mint')]: { routed: '1111', events: '4' } });
    expect((await daySeries(server)).map((row) => row.routed_to_lp)).toEqual(['1111']);
    const [kinds] = await server.query('SELECT count() AS count FROM kind_spans FINAL');
    expect(kinds).toEqual({ count: '4' });
  } finally {
    await server.close();
  }
});

describe('intervals that several partitions touch at once', () => {
  const commands = () => {
    const run: Params[] = [];
    const rollups = createRollups({
      ...store,
      command: async (sql, params = {}) => {
        run.push(params);
        await store.command(sql, params);
      },
    });
    return { run, rollups };
  };
  const touched = (partition: number, mint: string, owned = true) => ({
    mints: new Set([mint]),
    intervals: new Set([intervalOf(5n)]),
    partition,
    offset: BigInt(partition + 10),
    owned: () => owned,
  });

  test('are recomputed together, each partition up to its own offset', async () => {
    const { run, rollups } = commands();
    await Promise.all([rollups(touched(0, 'a')), rollups(touched(1, 'b'))]);
    expect(run).toHaveLength(WIDTHS.length + 4);
    for (const params of run) expect(params).toMatchObject({ partitions: [0, 1], offsets: [10n, 11n] });
  });

  test('are recomputed without a partition that was taken away', async () => {
    const { run, rollups } = commands();
    await Promise.all([rollups(touched(0, 'a', false)), rollups(touched(1, 'b'))]);
    for (const params of run) expect(params).toMatchObject({ partitions: [1], offsets: [11n] });
    run.length = 0;
    await rollups(touched(0, 'a', false));
    expect(run).toEqual([]);
  });
});
