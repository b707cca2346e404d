import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { NARROWEST } from '../../../ingest/materialise/rollups/slot-intervals.ts';
import type { LogRecord, TransactionRecord } from '../../../schemas/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, EVENING, logOf, marker, PROGRAM, routed, transaction } from './support/records.ts';

const SEED = Number(process.env.SEED ?? 20_261_126);
const PARTITIONS = 3;
const WRITERS = 3;
const RECORDS = process.env.NIGHTLY === '1' ? 400 : 60;
const TABLES = ['policy_totals', 'quote_days', 'kind_spans', 'policy_spans', 'quote_spans'];

let [unkind, kind]: Store[] = [];
beforeAll(async () => {
  [unkind, kind] = await Promise.all([embeddedDatabase('several'), embeddedDatabase('several')]);
});
afterAll(() => Promise.all([unkind?.close(), kind?.close()]));

const random = createRandom(`many owners ${SEED}`);
const chance = (share: number): boolean => random.next() < share;
const upTo = (most: number): number => Math.floor(random.next() * (most + 1));

/** A record, and what it adds to the routed sums of policies and of days. */
type Logged = { record: LogRecord; adds: Amounts };
type Amounts = readonly [ofPolicies: bigint, ofDays: bigint];
const NOTHING: Amounts = [0n, 0n];

/** A time on one of two days. */
const timeOf = (amount: bigint): number => EVENING + Number(amount % 2n) * 86_400;

/**
 * A log for each partition: most events are in the newest slot interval, some transactions come a second time, which may
 * bring their block time, and some batches will have markers only.
 */
function logs(): Logged[][] {
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    let interval = 100;
    const told: { record: TransactionRecord; amount: bigint; isDated: boolean }[] = [];
    return Array.from({ length: RECORDS }, (_, at): Logged => {
      if (chance(0.06)) interval += 1 + upTo(1) * 63;
      const slot = BigInt((chance(0.05) ? interval - 1 : interval) * NARROWEST + upTo(NARROWEST - 1));
      if (chance(0.45)) return { record: marker(slot), adds: NOTHING };
      const again = chance(0.2) ? told[upTo(told.length - 1)] : undefined;
      if (again !== undefined) {
        const { record, amount, isDated } = again;
        again.isDated = true;
        const blockTime = timeOf(amount);
        const other = { ...record, blockTime, index: record.index === null ? 1 : null };
        return { record: other, adds: isDated ? NOTHING : [0n, amount] };
      }
      const amount = BigInt(1 + upTo(1_000_000));
      const isDated = chance(0.8);
      const change = { blockTime: isDated ? timeOf(amount) : null, index: chance(0.3) ? null : 1 };
      const record = transaction(
        `${partition} ${at}`,
        slot,
        [routed(amount, `${partition} ${upTo(2)}`)],
        change,
      );
      told.push({ record, amount, isDated });
      return { record, adds: [amount, isDated ? amount : 0n] };
    });
  });
}

interface World {
  isCalm: boolean;
  /** Writes whose connection was cut, and which may land any time later. */
  late: (() => Promise<void>)[];
}

/** A process whose writes may fail, fail although they were done, land later, or wait until it wakes. */
function createWriter(store: Store, world: World) {
  let frozen: PromiseWithResolvers<void> | null = null;
  const awake = async () => {
    await pause(1);
    while (frozen !== null) await frozen.promise;
  };
  const write = async (work: () => Promise<void>): Promise<void> => {
    await awake();
    if (world.isCalm) return work();
    if (chance(0.01)) {
      frozen = Promise.withResolvers();
      await awake();
    }
    if (chance(0.02)) throw new Error('refused');
    if (chance(0.02)) {
      world.late.push(work);
      throw new Error('cut: it lands later');
    }
    const isUntold = chance(0.02);
    await work();
    if (isUntold) throw new Error('cut: it stands');
  };
  const own: Store = {
    ...store,
    query: async (sql, params) => {
      await awake();
      if (!world.isCalm && chance(0.01)) throw new Error('not answered');
      return store.query(sql, params);
    },
    insert: (table, rows) => write(() => store.insert(table, rows)),
    command: (sql, params) => write(() => store.command(sql, params)),
  };
  return {
    materialise: createMaterialiser({ store: own, programId: PROGRAM }),
    isFrozen: () => frozen !== null,
    wake: () => {
      frozen?.resolve();
      frozen = null;
    },
    /** Partitions of which a batch is under way. */
    busy: new Set<number>(),
  };
}
type Writer = ReturnType<typeof createWriter>;

const appliedIn = async (store: Store, partition: number): Promise<number> => {
  const [row] = await store.query<{ offset: string }>(
    `SELECT toString(log_offset) AS offset FROM applied FINAL
     WHERE topic = 'transactions' AND log_partition = {partition:UInt32}`,
    { partition },
  );
  return Number(row?.offset ?? -1);
};

/** The routed sums as readers see them. */
async function routedIn(store: Store, partition: number): Promise<Amounts> {
  const of = async (column: string, table: string) => {
    const [row] = await store.query<{ sum: string }>(
      `SELECT toString(sum(${column})) AS sum FROM ${table} FINAL WHERE log_partition = {partition:UInt32}`,
      { partition },
    );
    return BigInt(row?.sum ?? 0);
  };
  return [await of('routed', 'policy_totals'), await of('protocol_cut', 'quote_days')];
}
const sumOf = (some: readonly Logged[]): Amounts => [
  some.reduce((sum, { adds: [ofPolicies] }) => sum + ofPolicies, 0n),
  some.reduce((sum, { adds: [, ofDays] }) => sum + ofDays, 0n),
];

const sumsIn = (store: Store) =>
  Promise.all(
    TABLES.map((table) =>
      store.query(`SELECT * EXCEPT (log_offset) FROM ${table} FINAL WHERE event_count > 0 ORDER BY ALL`),
    ),
  );

test(`sums are those of the log, whichever process has a partition and whatever write fails (seed ${SEED})`, async () => {
  const [one, other] = [unkind as Store, kind as Store];
  const world: World = { isCalm: false, late: [] };
  const writers = Array.from({ length: WRITERS }, () => createWriter(one, world));
  const all = logs();
  let [moves, failures] = [0, 0];

  const fill = async (partition: number, records: readonly Logged[]): Promise<void> => {
    let owner: Writer | null = null;
    let next = 0;
    let handedOut = 0;
    let assignment = 0;
    while (next < records.length) {
      if (owner === null || owner.isFrozen() || chance(0.25)) {
        const free: Writer[] = writers.filter((one) => !one.isFrozen() && !one.busy.has(partition));
        for (const writer of writers) if (chance(0.3)) writer.wake();
        if (free.length === 0) {
          await pause(1);
          continue;
        }
        owner = free[upTo(free.length - 1)] as Writer;
        moves += 1;
        assignment += 1;
        // The group's committed offset may be older than what is applied.
        next = Math.max(0, (await appliedIn(one, partition)) + 1 - upTo(chance(0.2) ? 3 : 0));
      }
      const writer: Writer = owner;
      const entries = logOf(
        records.slice(next, next + 1 + upTo(4)).map(({ record }) => record),
        BigInt(next),
      );
      handedOut = Math.max(handedOut, next + entries.length);
      const owned = () => owner === writer;
      writer.busy.add(partition);
      const done = writer
        .materialise(batchOf('transactions', entries, { partition, assignment, owned }))
        .then(
          () => true,
          () => false,
        )
        .finally(() => writer.busy.delete(partition));
      const outcome = await Promise.race([done, frozenOr(writer, done)]);
      if (outcome === true) {
        next += entries.length;
        const [least, most] = [sumOf(records.slice(0, next)), sumOf(records.slice(0, handedOut))];
        for (const [at, told] of (await routedIn(one, partition)).entries()) {
          expect(told).toBeGreaterThanOrEqual(least[at] as bigint);
          expect(told).toBeLessThanOrEqual(most[at] as bigint);
        }
      } else if (outcome === false) failures += 1;
      else owner = null;
      if (chance(0.1)) await world.late.splice(upTo(world.late.length), 1)[0]?.();
    }
  };
  const frozenOr = async (writer: Writer, done: Promise<boolean>): Promise<'frozen' | boolean> => {
    let isOver = false;
    done.finally(() => {
      isOver = true;
    });
    while (!isOver && !writer.isFrozen()) await pause(1);
    return isOver ? done : 'frozen';
  };

  await Promise.all(all.map((records, partition) => fill(partition, records)));
  for (const writer of writers) writer.wake();
  world.isCalm = true;
  while (writers.some(({ busy }) => busy.size > 0)) await pause(1);
  for (const late of world.late) await late();

  // Each partition goes on in another interval: the next owner writes what was held back.
  const end = BigInt(900 * NARROWEST);
  const last = (partition: number) => [
    transaction(`last of ${partition}`, end, [routed(1n, `${partition} 0`)]),
  ];
  const clean = createMaterialiser({ store: other, programId: PROGRAM });
  const takesOver = createMaterialiser({ store: one, programId: PROGRAM });
  for (const [partition, records] of all.entries()) {
    const from = (await appliedIn(one, partition)) + 1;
    expect(from).toBe(records.length);
    const whole = [...records.map(({ record }) => record), ...last(partition)];
    await takesOver(batchOf('transactions', logOf(whole.slice(from), BigInt(from)), { partition }));
    await clean(batchOf('transactions', logOf(whole), { partition }));
  }
  expect(moves).toBeGreaterThan(PARTITIONS);
  expect(failures).toBeGreaterThan(0);
  expect(await sumsIn(one)).toEqual(await sumsIn(other));
});
