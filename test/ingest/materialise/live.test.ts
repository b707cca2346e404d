import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { createRollups } from '../../../ingest/materialise/rollups/recompute.ts';
import { NARROWEST, WIDTHS } from '../../../ingest/materialise/rollups/slot-intervals.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { deleteRows } from '../support/delete-rows.ts';
import { batchOf, EVENING, logOf, marker, PROGRAM, routed, transaction } from './support/records.ts';

const SEED = Number(process.env.SEED ?? 20_261_122);
/** Tables that readers sum over. */
const TOTALS = ['policy_totals', 'quote_days', 'kind_spans'];
const TABLES = [...TOTALS, 'policy_spans', 'quote_spans'];

/** `live` has a process that goes on; in `anew` ClickHouse computes all sums, as for a process that remembers nothing. */
let [live, anew]: Store[] = [];
beforeAll(async () => {
  [live, anew] = await Promise.all([embeddedDatabase('several'), embeddedDatabase('several')]);
});
afterAll(() => Promise.all([live?.close(), anew?.close()]));

/** A store that records the statements with which ClickHouse computes sums. */
function counting(store: Store): { store: Store; statements: string[] } {
  const statements: string[] = [];
  const command: Store['command'] = async (sql, params) => {
    statements.push(sql);
    await store.command(sql, params);
  };
  return { store: { ...store, command }, statements };
}

const sumsIn = (store: Store, tables: readonly string[]) =>
  Promise.all(
    tables.map((table) => store.query(`SELECT * EXCEPT (log_offset) FROM ${table} FINAL ORDER BY ALL`)),
  );

/** A transaction by name; a later reading may know its index and time where an earlier one did not. */
const record = fc.record({
  name: fc.nat({ max: 30 }),
  index: fc.constantFrom(null, 1),
  isDated: fc.boolean(),
});
const DAYS_AROUND = [EVENING - 90_000, EVENING - 9, EVENING + 8, EVENING + 10, EVENING + 90_000];
/** Most batches stay in the interval of the one before them; some go on. */
const interval = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1, WIDTHS[1] / NARROWEST, WIDTHS[2] / NARROWEST);
const batch = fc.record({
  interval,
  records: fc.array(record, { minLength: 1, maxLength: 6 }),
  again: fc.boolean(),
  /** Which of two processes has the partition, and whether a batch without events comes first. */
  by: fc.constantFrom(0, 0, 1),
  isLed: fc.boolean(),
});

test(`sums made in the process equal those that ClickHouse computes (seed ${SEED})`, async () => {
  const [one, other] = [live as Store, anew as Store];
  const { store, statements } = counting(one);
  const writer = () => createMaterialiser({ store, programId: PROGRAM });
  const writers = [writer(), writer()];
  const batches = fc.sample(batch, { numRuns: process.env.NIGHTLY === '1' ? 300 : 16, seed: SEED });
  let next = 0n;
  let at = 0;
  let inProcess = 0;
  for (const [count, { interval, records, again, by, isLed }] of batches.entries()) {
    at += interval;
    const log: LogRecord[] = records.map(({ name, index, isDated }) => {
      const blockTime = isDated ? (DAYS_AROUND[name % DAYS_AROUND.length] as number) : null;
      const what = [routed(BigInt(name + 1), `mint ${name % 3}`)];
      const slot = BigInt(at * NARROWEST + (name % 7));
      return transaction(`${name} of ${at}`, slot, what, { index, blockTime });
    });
    const led = isLed ? logOf([marker(BigInt(at * NARROWEST))], next) : [];
    const entries = logOf(log, next + BigInt(led.length));
    next += BigInt(led.length + log.length);
    const takesOver = count % 8 === 7;
    // A process that takes over does not know sums held back before; one that has it back, what was written meanwhile.
    if (takesOver) writers[by] = writer();
    const materialise = writers[by] as ReturnType<typeof writer>;
    const toldBefore = statements.length;
    for (const some of isLed ? [led, entries] : [entries])
      await Promise.all([
        materialise(batchOf('transactions', some)),
        createMaterialiser({ store: other, programId: PROGRAM })(batchOf('transactions', some)),
      ]);
    // A batch that is delivered again changes nothing.
    if (again) await materialise(batchOf('transactions', entries));
    if (statements.length === toldBefore) inProcess += 1;
    const compared = takesOver ? TABLES : TOTALS;
    if (count % 4 === 3) expect(await sumsIn(one, compared)).toEqual(await sumsIn(other, compared));
  }
  expect(inProcess).toBeGreaterThan(0);
});

describe('sums of slot intervals that are held back in memory', () => {
  const PARTITION = 5;
  const interval = (at: number) => BigInt(NARROWEST * (8_000_000 + at));
  const sumOfSpans = async (store: Store, upTo = interval(9)) => {
    const [row] = await store.query<{ events: string }>(
      `SELECT toString(sum(event_count)) AS events FROM policy_spans FINAL
       WHERE log_partition = ${PARTITION} AND width = ${NARROWEST} AND span * ${NARROWEST} <= {upTo:UInt64}`,
      { upTo },
    );
    return Number(row?.events);
  };
  const writer = (store: Store) => {
    const materialise = createMaterialiser({ store, programId: PROGRAM });
    return (offset: number, slot: bigint) =>
      materialise(
        batchOf(
          'transactions',
          logOf([transaction(`kept ${offset}`, slot, [routed(1n, `kept ${offset}`)])], BigInt(offset)),
          { partition: PARTITION },
        ),
      );
  };

  test('are written once another interval is touched, or by the process that takes over', async () => {
    const one = live as Store;
    const write = writer(one);
    for (let offset = 0; offset < 4; offset += 1) await write(offset, interval(0) + BigInt(offset));
    expect(await sumOfSpans(one)).toBeLessThan(4);
    await write(4, interval(1));
    expect(await sumOfSpans(one)).toBe(5);
    for (let offset = 5; offset < 8; offset += 1) await write(offset, interval(1) + BigInt(offset));
    expect(await sumOfSpans(one)).toBeLessThan(8);
    // The next batch begins another interval.
    await writer(one)(8, interval(2));
    expect(await sumOfSpans(one)).toBe(9);
  });

  test('include what another process wrote before the partition came back, after a batch without events', async () => {
    const [own, other] = [PARTITION + 2, interval(7)];
    const write = (by: ReturnType<typeof createMaterialiser>, offset: number, records: LogRecord[]) =>
      by(batchOf('transactions', logOf(records, BigInt(offset)), { partition: own }));
    const event = (offset: number) => [
      transaction(`back ${offset}`, other + BigInt(offset), [routed(10n ** BigInt(offset), 'back')]),
    ];
    const [first, second] = [0, 1].map(() =>
      createMaterialiser({ store: live as Store, programId: PROGRAM }),
    ) as [ReturnType<typeof createMaterialiser>, ReturnType<typeof createMaterialiser>];
    for (const offset of [0, 1, 2]) await write(first, offset, event(offset));
    await write(second, 3, event(3));
    await write(first, 4, [marker(other + 4n)]);
    await write(first, 5, event(5));
    const [row] = await (live as Store).query<{ routed: string }>(
      `SELECT toString(routed) AS routed FROM policy_totals FINAL WHERE log_partition = ${own}`,
    );
    expect(row?.routed).toBe('101111');
  });

  test('are right after the next process dies once it has written them, and its batch comes again shorter', async () => {
    const own = PARTITION + 3;
    const event = (offset: number, at: number) =>
      transaction(`shorter ${offset}`, interval(at) + BigInt(offset), [
        routed(10n ** BigInt(offset), 'shorter'),
      ]);
    const handOut = (store: Store, first: number, records: LogRecord[]) =>
      createMaterialiser({ store, programId: PROGRAM })(
        batchOf('transactions', logOf(records, BigInt(first)), { partition: own }),
      );
    const one = live as Store;
    const keepsBack = createMaterialiser({ store: one, programId: PROGRAM });
    for (const offset of [0, 1, 2])
      await keepsBack(
        batchOf('transactions', logOf([event(offset, 10)], BigInt(offset)), { partition: own }),
      );
    let statements = 0;
    const command: Store['command'] = async (sql, params) => {
      statements += 1;
      // So many statements write the sums that were held back.
      if (statements > 7) throw new Error('killed');
      await one.command(sql, params);
    };
    const both = [event(3, 11), event(4, 11)];
    await expect(handOut({ ...one, command }, 3, both)).rejects.toThrow('killed');
    await handOut(one, 3, both.slice(0, 1));
    expect(
      await one.query(
        `SELECT toString(sum(routed)) AS routed FROM policy_totals FINAL WHERE log_partition = ${own}
         UNION ALL SELECT toString(sum(protocol_cut)) FROM quote_days FINAL WHERE log_partition = ${own}`,
      ),
    ).toEqual([{ routed: '11111' }, { routed: '11111' }]);
  });

  test('are written before kind_spans, which tells that they are: a process killed earlier writes none of it', async () => {
    const own = { partition: PARTITION + 4, offset: 7n, owned: () => true };
    const told = async (diesAt: number) => {
      const tables: string[] = [];
      const command: Store['command'] = async (sql, params) => {
        const [, table = ''] = /INSERT INTO (\w+)/.exec(sql) ?? [];
        if (table === 'policy_spans' && tables.filter((one) => one === table).length === diesAt)
          throw new Error('killed');
        tables.push(table);
        await (live as Store).command(sql, params);
      };
      const recompute = createRollups({ ...(live as Store), command });
      const mints = new Set(['kept']);
      await recompute({ ...own, mints, intervals: new Set([8_000_000n]) }).catch(() => {});
      return tables;
    };
    for (const diesAt of [0, 1, 2]) expect(await told(diesAt)).not.toContain('kind_spans');
    expect((await told(3)).at(-1)).toBe('kind_spans');
  });

  test('are made by the process that takes over, at whichever statement the one before was killed', async () => {
    const one = live as Store;
    const mint = 'killed at';
    const writerTo = (store: Store) => createMaterialiser({ store, programId: PROGRAM });
    const give = (to: ReturnType<typeof writerTo>, partition: number, offset: number, at: number) => {
      const record = transaction(`${mint} ${offset}`, interval(at), [routed(7n, mint)]);
      return to(batchOf('transactions', logOf([record], BigInt(offset)), { partition }));
    };
    let killedAt = 0;
    for (let isKilled = true; isKilled; killedAt += 1) {
      const own = PARTITION + 10 + killedAt;
      const keepsBack = writerTo(one);
      for (const offset of [0, 1, 2]) await give(keepsBack, own, offset, 12);
      let statements = 0;
      isKilled = false;
      const command: Store['command'] = async (sql, params) => {
        if (statements === killedAt) isKilled = true;
        if (isKilled) throw new Error('killed');
        statements += 1;
        await one.command(sql, params);
      };
      await give(writerTo({ ...one, command }), own, 3, 13).catch(() => {});
      await give(writerTo(one), own, 3, 13);
      // In another interval, so that what was held back of the one before is written.
      await give(writerTo(one), own, 4, 14);
      const spans = await one.query<{ at: string; events: string }>(
        `SELECT toString(span - 8000000) AS at, toString(sum(event_count)) AS events FROM policy_spans FINAL
         WHERE log_partition = ${own} AND width = ${NARROWEST} AND span < 8000014 GROUP BY span ORDER BY span`,
      );
      expect(spans, `killed at statement ${killedAt}`).toEqual([
        { at: '12', events: '3' },
        { at: '13', events: '1' },
      ]);
    }
    expect(killedAt).toBeGreaterThan(5);
  });

  test('do not keep an event in the day that a corrected time took it from, by whichever process', async () => {
    const at = interval(5);
    const told = (offset: number, name: string, index: null | 1, days: number) =>
      batchOf(
        'transactions',
        logOf(
          [transaction(name, at, [routed(1n)], { index, blockTime: EVENING + days * 86_400 })],
          BigInt(offset),
        ),
        { partition: PARTITION + 1 },
      );
    const one = createMaterialiser({ store: live as Store, programId: PROGRAM });
    for (const batch of [told(0, 'stays', 1, 0), told(1, 'stays', 1, 0), told(2, 'moves', null, 2)])
      await one(batch);
    await createMaterialiser({ store: live as Store, programId: PROGRAM })(told(3, 'moves', 1, 4));
    expect(
      await (live as Store).query(
        `SELECT toString(event_count) AS events FROM quote_days FINAL WHERE log_partition = ${PARTITION + 1} ORDER BY day`,
      ),
    ).toEqual([{ events: '1' }, { events: '0' }, { events: '1' }]);
  });

  test('are written by the process that takes over, though a cut-off batch began another interval', async () => {
    const one = live as Store;
    const write = writer(one);
    for (let offset = 9; offset < 13; offset += 1) await write(offset, interval(3) + BigInt(offset));
    const dying = writer({
      ...one,
      insert: async (table, rows) => {
        if (table === 'applied') throw new Error('the connection was cut');
        await one.insert(table, rows);
      },
    });
    await expect(dying(13, interval(4))).rejects.toThrow('cut');
    const spans = `log_partition = ${PARTITION} AND span * ${NARROWEST} = {at:UInt64} AND width = ${NARROWEST}`;
    await deleteRows(one, 'policy_spans', spans, { at: interval(3) });
    expect(await sumOfSpans(one, interval(3))).toBe(9);
    await writer(one)(13, interval(4));
    expect(await sumOfSpans(one)).toBe(14);
  });
});

test('at the tip of the chain the database is neither queried nor asked to compute sums', async () => {
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
