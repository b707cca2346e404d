import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Params, Store } from '../../../clickhouse/client.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, logOf, marker, PROGRAM, routed, transaction } from './support/records.ts';
import { sumsOfFacts, sumsOfTotals } from './support/tables.ts';

let store: Store;
beforeEach(async () => {
  store = await embeddedDatabase('several');
});
afterEach(() => store.close());

/** Ten transactions over three policies, with a marker at the end. */
const LOG = logOf([
  ...Array.from({ length: 10 }, (_, at) =>
    transaction(`t${at}`, BigInt(at + 1), [routed(BigInt(at + 1), `m${at % 3}`)]),
  ),
  marker(10n),
]);

function gate(): { reached: Promise<void>; reach(): void; opened: Promise<void>; open(): void } {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return { reached: first.promise, reach: first.resolve, opened: second.promise, open: second.resolve };
}

/** A store whose first recompute of `table` reads, is then paused until the gate opens, and writes what it has read. */
function pausedIn(
  table: string,
  pause: ReturnType<typeof gate>,
  offsetOf: (params: Params) => Params,
): Store {
  let isFirst = true;
  return {
    ...store,
    command: async (sql, given = {}) => {
      const params = offsetOf(given);
      if (!isFirst || !sql.includes(`INSERT INTO ${table} `)) return store.command(sql, params);
      isFirst = false;
      await store.command(`CREATE TABLE read_before AS ${table} ENGINE = Memory`);
      await store.command(sql.replace(`INSERT INTO ${table}`, 'INSERT INTO read_before'), params);
      pause.reach();
      await pause.opened;
      await store.command(`INSERT INTO ${table} SELECT * FROM read_before`);
    },
  };
}

/** An owner is paused in mid-recompute, another takes the partition over and finishes, then the first one writes. */
async function latePausedOwner(
  table: string,
  offsetOf = (params: Params) => params,
  rowOf = (row: object) => row,
): Promise<void> {
  const pause = gate();
  const first = createMaterialiser({ store: pausedIn(table, pause, offsetOf), programId: PROGRAM });
  const second = createMaterialiser({
    store: {
      ...store,
      command: (sql, params) => store.command(sql, offsetOf(params ?? {})),
      insert: (name, rows) => store.insert(name, SUMS.includes(name) ? rows.map(rowOf) : rows),
    },
    programId: PROGRAM,
  });
  const late = first(batchOf('transactions', LOG.slice(0, 4)));
  await pause.reached;
  await second(batchOf('transactions', LOG.slice(0, 7)));
  await second(batchOf('transactions', LOG.slice(7)));
  pause.open();
  await late;
}

async function days(from: 'facts' | 'rollup'): Promise<unknown[]> {
  return store.query(
    from === 'facts'
      ? `SELECT toDate(fromUnixTimestamp64Second(assumeNotNull(block_time), 'UTC')) AS day, quote_mint, sum(toUInt128(amount_c)) AS routed
         FROM events_by_slot FINAL GROUP BY day, quote_mint ORDER BY day, quote_mint`
      : `SELECT day, quote_mint, sum(routed_to_lp) AS routed FROM quote_days FINAL
         GROUP BY day, quote_mint HAVING sum(event_count) > 0 ORDER BY day, quote_mint`,
  );
}

/** All recomputes carry one version, so that the last writer wins. */
const unversioned = (params: Params): Params =>
  'offsets' in params ? { ...params, offsets: (params.offsets as bigint[]).map(() => 0n) } : params;

const unversionedRow = (row: object): object => ({ ...row, log_offset: '0' });

const SUMS = ['policy_spans', 'policy_totals', 'quote_spans', 'quote_days', 'kind_spans'];

describe('an owner that is paused in mid-recompute and writes after its successor', () => {
  test.each(SUMS)('does not spoil %s, nor what is summed from it', async (table) => {
    await latePausedOwner(table);
    expect(await sumsOfTotals(store)).toEqual(await sumsOfFacts(store));
    expect(await days('rollup')).toEqual(await days('facts'));
  });

  test('would spoil totals and days if a recompute carried no log offset as version', async () => {
    await latePausedOwner('policy_totals', unversioned, unversionedRow);
    expect(await sumsOfTotals(store)).not.toEqual(await sumsOfFacts(store));
    await store.command('DROP TABLE read_before');
    await store.command('TRUNCATE TABLE events_by_slot');
    await store.command('TRUNCATE TABLE quote_spans');
    await store.command('TRUNCATE TABLE quote_days');
    await latePausedOwner('quote_days', unversioned, unversionedRow);
    expect(await days('rollup')).not.toEqual(await days('facts'));
  });
});

describe('a batch that is written twice, cut differently', () => {
  const cuts = [
    [0, 6],
    [3, 11],
  ] as const;

  async function applyTwice(): Promise<void> {
    for (const [from, to] of cuts) {
      await createMaterialiser({ store, programId: PROGRAM })(batchOf('transactions', LOG.slice(from, to)));
    }
  }

  test('counts once in the sums', async () => {
    await applyTwice();
    expect(await sumsOfTotals(store)).toEqual(await sumsOfFacts(store));
  });

  test('would count twice in totals that a materialized view adds to', async () => {
    await store.command(
      `CREATE TABLE added (mint String, routed UInt128, events UInt64) ENGINE = SummingMergeTree ORDER BY mint`,
    );
    await store.command(
      `CREATE MATERIALIZED VIEW events_to_added TO added AS
       SELECT mint, toUInt128(amount_a) AS routed, toUInt64(1) AS events FROM events`,
    );
    await applyTwice();
    const rows = await store.query<{ mint: string; routed: string; events: string }>(
      'SELECT mint, toString(sum(a.routed)) AS routed, toString(sum(a.events)) AS events FROM added AS a GROUP BY mint ORDER BY mint',
    );
    const added = Object.fromEntries(rows.map(({ mint, ...row }) => [mint, row]));
    expect(added).not.toEqual(await sumsOfFacts(store));
    expect(await sumsOfTotals(store)).toEqual(await sumsOfFacts(store));
  });
});
