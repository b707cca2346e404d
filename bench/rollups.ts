import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openEmbedded, type Store } from '../clickhouse/client.ts';
import { migrate } from '../clickhouse/schema/migrate.ts';
import { createRollups } from '../ingest/materialise/rollups/recompute.ts';
import { intervalOf } from '../ingest/materialise/rollups/slot-intervals.ts';
import {
  columnNames,
  POLICY_COLUMNS,
  QUOTE_COLUMNS,
  selected,
} from '../ingest/materialise/rollups/summed-columns.ts';
import { percentile } from './support/percentile.ts';
import type { Row } from './support/row.ts';

const MINTS = 100;
const FACTS_PER_SLOT = 10;
const SLOTS_AT_ONCE = 10_000;
const TURNS = 15;
const MOST_GROWTH = 4;
const FIRST_TIME = 1_700_000_000;

/** Inserts `count` facts from slot `from` on, spread over the policies; five slots are two seconds. */
const FACTS = `
INSERT INTO events
SELECT concat('policy', toString(n % ${MINTS})), concat('mint', toString(n % ${MINTS})), 'quote', intDiv(n, ${FACTS_PER_SLOT}) AS slot,
  toString(cityHash64(n)), 0, toUInt32(n % ${FACTS_PER_SLOT}), 1, toInt64(${FIRST_TIME} + intDiv(slot * 2, 5)),
  ['FeesClaimed', 'Routed', 'ProfitSwept', 'BuybackBurned'][n % 4 + 1], 'actor', '{}', n, n, n, n, 0
FROM (SELECT number + {from:UInt64} * ${FACTS_PER_SLOT} AS n FROM numbers({count:UInt64}))`;

/** Baseline: the same sums from all facts of the touched policies and of the touched day, as an audit makes them. */
const WHOLE = [
  `INSERT INTO policy_totals (mint, log_partition, log_offset, ${columnNames(POLICY_COLUMNS)})
   SELECT e.mint, e.log_partition, {offset:UInt64}, ${selected(POLICY_COLUMNS, 'ofFacts')}
   FROM events AS e FINAL WHERE e.mint IN {mints:Array(String)} GROUP BY e.mint, e.log_partition`,
  `INSERT INTO quote_days (day, quote_mint, log_partition, log_offset, ${columnNames(QUOTE_COLUMNS)})
   SELECT toDate(fromUnixTimestamp64Second(assumeNotNull(e.block_time), 'UTC')) AS day, e.quote_mint, e.log_partition, {offset:UInt64},
     ${selected(QUOTE_COLUMNS, 'ofFacts')}
   FROM (SELECT * FROM events_by_slot FINAL WHERE block_time >= {day:Int64}) AS e
   GROUP BY day, e.quote_mint, e.log_partition`,
];

const DAY_SECONDS = 86_400;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Median milliseconds to recompute the sums that one more slot touches, after a history of so many slots. */
async function medians(store: Store, slots: number): Promise<{ intervals: number; whole: number }> {
  const rollups = createRollups(store);
  const mints = Array.from({ length: MINTS }, (_, at) => `mint${at}`);
  const recompute = (first: number, last: number, offset: number) => {
    const intervals = new Set<bigint>();
    for (let interval = intervalOf(BigInt(first)); interval <= intervalOf(BigInt(last)); interval += 1n)
      intervals.add(interval);
    return rollups({
      mints: new Set(mints),
      intervals,
      partition: 0,
      offset: BigInt(offset),
      owned: () => true,
    });
  };
  for (let from = 0; from < slots; from += SLOTS_AT_ONCE) {
    const count = Math.min(SLOTS_AT_ONCE, slots - from);
    await store.command(FACTS, { from, count: count * FACTS_PER_SLOT });
    await recompute(from, from + count, from + count);
  }
  const took = { intervals: [] as number[], whole: [] as number[] };
  for (let turn = 0; turn < TURNS; turn += 1) {
    const slot = slots + turn;
    const time = FIRST_TIME + Math.floor((slot * 2) / 5);
    const day = time - (time % DAY_SECONDS);
    await store.command(FACTS, { from: slot, count: FACTS_PER_SLOT });
    took.intervals.push(await timed(() => recompute(slot, slot, slot)));
    const all = () => Promise.all(WHOLE.map((sql) => store.command(sql, { mints, day, offset: slot })));
    took.whole.push(await timed(all));
  }
  const median = (list: number[]) =>
    percentile(
      list.sort((a, b) => a - b),
      0.5,
    );
  return { intervals: median(took.intervals), whole: median(took.whole) };
}

/** Measures what it costs to recompute a batch's sums after a short history and after a long one. */
export async function benchRollups(slots: number): Promise<Row[]> {
  const measured: { intervals: number; whole: number }[] = [];
  for (const length of [slots / 100, slots]) {
    const directory = mkdtempSync(path.join(tmpdir(), 'bench-'));
    const store = await openEmbedded(directory);
    await migrate(store, null);
    measured.push(await medians(store, Math.ceil(length)));
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
  const [short, long] = measured as [(typeof measured)[0], (typeof measured)[0]];
  const facts = (count: number) => `${(count * FACTS_PER_SLOT).toLocaleString('en')} facts`;
  const told = ({ intervals, whole }: typeof short) => `${intervals.toFixed(0)} · ${whole.toFixed(0)}`;
  const growth = { intervals: long.intervals / short.intervals, whole: long.whole / short.whole };
  return [
    { name: `intervals · all facts, ms, beside ${facts(slots / 100)}`, value: told(short), ok: null },
    { name: `intervals · all facts, ms, beside ${facts(slots)}`, value: told(long), ok: null },
    {
      name: `times as long beside 100 times as many (bar ${MOST_GROWTH} for intervals)`,
      value: `${growth.intervals.toFixed(1)} · ${growth.whole.toFixed(1)}`,
      ok: growth.intervals <= MOST_GROWTH,
    },
  ];
}
