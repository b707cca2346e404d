import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { openGaps } from '../../../clickhouse/queries/progress/stream-store.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { openLog } from '../../../start/log.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { marker, PROGRAM, routed, transaction } from './support/records.ts';
import { sumsOfFacts, sumsOfTotals } from './support/tables.ts';

const logger = createLogger('silent', 'test');

let store: Store;

beforeEach(async () => {
  store = await embeddedDatabase('several');
});
afterEach(() => store.close());

interface Life {
  append(records: readonly LogRecord[]): Promise<void>;
  isDead(): boolean;
  end(): Promise<void>;
}

/** Whether the process dies at a write: this one and all later ones do not reach the database. */
type Death = (table: string | null, rows: readonly object[]) => boolean;

const never: Death = () => false;
const beforeItIsApplied: Death = (table, rows) =>
  table === 'applied' && rows.some((row) => 'topic' in row && row.topic === 'transactions');

/** Starts a process with a log of its own. */
async function live(death: Death): Promise<Life> {
  let isDead = false;
  const write = async (table: string | null, rows: readonly object[], run: () => Promise<void>) => {
    isDead ||= death(table, rows);
    if (isDead) throw new Error('the process is dead');
    await run();
  };
  const mortal: Store = {
    ...store,
    insert: (table, rows) => write(table, rows, () => store.insert(table, rows)),
    command: (sql, params) => write(null, [], () => store.command(sql, params)),
  };
  const log = await openLog(readConfig({}), store, logger);
  const stop = new AbortController();
  const running = log.run(createMaterialiser({ store: mortal, programId: PROGRAM }), stop.signal);
  return {
    append: log.append,
    isDead: () => isDead,
    end: async () => {
      stop.abort();
      await running;
      await log.close();
    },
  };
}

async function until(so: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await so())) await pause(5);
}

const appliedSlot = async (): Promise<bigint> => {
  const [row] = await store.query<{ slot: string }>(
    "SELECT min(slot) AS slot FROM applied FINAL WHERE topic IN ('accounts', 'transactions') HAVING count() = 2",
  );
  return BigInt(row?.slot ?? -1);
};

/** Applies all given records, and ends. */
async function liveThrough(records: readonly LogRecord[], last: bigint): Promise<void> {
  const life = await live(never);
  await life.append(records);
  await until(async () => (await appliedSlot()) === last);
  await life.end();
}

/** Dies once the records' rows are written, and before they count as applied. */
async function dieWith(records: readonly LogRecord[]): Promise<void> {
  const life = await live(beforeItIsApplied);
  await life.append(records);
  await until(life.isDead);
  await life.end();
}

const manyOf = (slot: bigint): LogRecord[] =>
  Array.from({ length: 20 }, (_, n) => transaction(`filler ${slot} ${n}`, slot, [routed(1n, 'other')]));

describe('the in-process log, which ends with its process', () => {
  test('sums match the facts after a batch was cut off, and after the next process adds facts', async () => {
    const early = transaction('early', 600n, [routed(5n, 'a')]);
    await dieWith([early, ...manyOf(600n), marker(600n)]);
    expect(await sumsOfTotals(store)).toEqual(await sumsOfFacts(store));
    await liveThrough([early, transaction('later', 601n, [routed(7n, 'a')]), marker(601n)], 601n);
    expect(await sumsOfTotals(store)).toEqual(await sumsOfFacts(store));
  });

  test('a start alone does not change when something was last applied', async () => {
    const times = () => store.query('SELECT max(applied_at) AS at, max(slot) AS slot FROM applied FINAL');
    await liveThrough([marker(30n)], 30n);
    const before = await times();
    await (await live(never)).end();
    expect(await times()).toEqual(before);
  });

  test('a closed gap that a batch reopened before it was cut off is counted as late', async () => {
    const gap = (closed: boolean): LogRecord => {
      return { kind: 'gap', fromSlot: 10n, toSlot: closed ? 10n : 20n, toTime: null, closed };
    };
    const counted = () => store.query('SELECT sum(late_batches) AS late FROM applied FINAL');
    await liveThrough([gap(false), gap(true), marker(30n)], 30n);
    expect(await counted()).toEqual([{ late: '0' }]);
    await dieWith([gap(false), marker(31n)]);
    await liveThrough([gap(true), marker(41n)], 41n);
    expect(await openGaps(store)).toEqual([]);
    expect(await counted()).toEqual([{ late: '1' }]);
  });

  test('a reopened gap is open, though a cut-off batch had closed it at a higher offset', async () => {
    const gap = (toSlot: bigint, closed: boolean): LogRecord => {
      return { kind: 'gap', fromSlot: 10n, toSlot, toTime: null, closed };
    };
    await liveThrough([gap(20n, false), marker(30n)], 30n);
    await dieWith([...manyOf(31n), gap(20n, true), marker(31n)]);
    expect(await openGaps(store)).toEqual([]);
    await liveThrough([gap(40n, false), marker(41n)], 41n);
    expect(await openGaps(store)).toEqual([{ fromSlot: 10n, toSlot: 40n, toTime: null, before: null }]);
  });
});
