import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { NARROWEST, WIDTHS } from '../../../ingest/materialise/rollups/slot-intervals.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, EVENING, logOf, PROGRAM, routed, transaction } from './support/records.ts';

const SEED = Number(process.env.SEED ?? 20_261_122);
const TABLES = ['policy_spans', 'policy_totals', 'quote_spans', 'quote_days', 'kind_spans'];

/** One goes on from batch to batch; of the other the engine makes the sums, as one who knows nothing does. */
let [live, anew]: Store[] = [];
beforeAll(async () => {
  [live, anew] = await Promise.all([embeddedDatabase('several'), embeddedDatabase('several')]);
});
afterAll(() => Promise.all([live?.close(), anew?.close()]));

/** A store that notes which tables the engine was told to make sums in. */
function counting(store: Store): { store: Store; statements: string[] } {
  const statements: string[] = [];
  const command: Store['command'] = async (sql, params) => {
    statements.push(sql);
    await store.command(sql, params);
  };
  return { store: { ...store, command }, statements };
}

const sumsIn = (store: Store) =>
  Promise.all(
    TABLES.map((table) => store.query(`SELECT * EXCEPT (log_offset) FROM ${table} FINAL ORDER BY ALL`)),
  );

/** A transaction by its name; a later reading of it may know its place and its time better. */
const record = fc.record({
  name: fc.nat({ max: 30 }),
  index: fc.constantFrom(null, 1),
  blockTime: fc.oneof(fc.constant(null), fc.integer({ min: EVENING - 90_000, max: EVENING + 90_000 })),
});
/** Most batches stay in the interval of the one before them; some go on. */
const interval = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, WIDTHS[1] / NARROWEST, WIDTHS[2] / NARROWEST);
const batch = fc.record({
  interval,
  records: fc.array(record, { minLength: 1, maxLength: 6 }),
  again: fc.boolean(),
});

test(`sums made in the process are those that the engine makes (seed ${SEED})`, async () => {
  const [one, other] = [live as Store, anew as Store];
  const { store, statements } = counting(one);
  const materialise = createMaterialiser({ store, programId: PROGRAM });
  const batches = fc.sample(batch, { numRuns: process.env.NIGHTLY === '1' ? 300 : 16, seed: SEED });
  let next = 0n;
  let at = 0;
  for (const [count, { interval, records, again }] of batches.entries()) {
    at += interval;
    const log: LogRecord[] = records.map(({ name, index, blockTime }) => {
      const what = [routed(BigInt(name + 1), `mint ${name % 3}`)];
      const slot = BigInt(at * NARROWEST + (name % 7));
      return transaction(`${name} of ${at}`, slot, what, { index, blockTime });
    });
    const entries = logOf(log, next);
    next += BigInt(log.length);
    await Promise.all([
      materialise(batchOf('transactions', entries)),
      createMaterialiser({ store: other, programId: PROGRAM })(batchOf('transactions', entries)),
    ]);
    // What is handed out a second time changes nothing.
    if (again) await materialise(batchOf('transactions', entries));
    if (count % 5 === 0) expect(await sumsIn(one)).toEqual(await sumsIn(other));
  }
  // Seven statements where the engine makes them.
  expect(statements.length).toBeLessThan(batches.length * 5);
});

test('at the tip of the chain nothing is read back and the engine makes no sum', async () => {
  const { store, statements } = counting(live as Store);
  const questions: string[] = [];
  const query: Store['query'] = (sql, params) => {
    questions.push(sql);
    return (live as Store).query(sql, params);
  };
  const materialise = createMaterialiser({
    store: { ...store, query, exclusive: true },
    programId: PROGRAM,
  });
  const tip = BigInt(NARROWEST * 9_000_000);
  const apply = (at: number) =>
    materialise(
      batchOf(
        'transactions',
        logOf([transaction(`tip ${at}`, tip + BigInt(at), [routed(1n, 'tip')])], BigInt(at)),
        {
          partition: 3,
        },
      ),
    );
  await apply(0);
  await apply(1);
  statements.length = 0;
  questions.length = 0;
  await apply(2);
  expect({ statements, questions }).toEqual({ statements: [], questions: [] });
});
