import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { datedRows, revenueByDay } from '../../../api/analytics/revenue.ts';
import { stateOf } from '../../../api/latest/index-state.ts';
import type { Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { daySeries } from '../../../clickhouse/queries/analytics/day-series.ts';
import {
  appliedState,
  gapStates,
  incompleteState,
} from '../../../clickhouse/queries/progress/index-state.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import type { LogRecord, StruckTransaction, TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { toGeyser, toJson } from '../../schemas/support/encode-transaction.ts';
import { credit, ours } from '../../schemas/support/program-calls.ts';
import { run } from '../../schemas/support/run.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import {
  batchOf,
  EVENING,
  logOf,
  marker,
  PROGRAM,
  rawSignature,
  routed,
  transaction,
} from './support/records.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

let next = 0n;
let slot = 0n;
const CHAPTER = 100_000n;
beforeEach(() => {
  slot += CHAPTER;
});

/** Calls `look` after every write, as a reader might look then, and is killed in place of one of them. */
function watching(look: () => Promise<void>, diesAt = -1): Store & { writes(): number } {
  let writes = 0;
  const around = async (write: () => Promise<void>) => {
    const dies = writes === diesAt;
    writes += 1;
    if (!dies) await write();
    await look();
    if (dies) throw new Error('killed');
  };
  return {
    ...store,
    writes: () => writes,
    insert: (table, rows) => around(() => store.insert(table, rows)),
    command: (sql, params) => around(() => store.command(sql, params)),
  };
}

const nothing = async () => {};

/** Applies records in a process that knows nothing of the store. */
async function take(records: LogRecord[], into = store): Promise<void> {
  const entries = logOf([...records, marker(slot)], next);
  await createMaterialiser({ store: into, programId: PROGRAM })(batchOf('transactions', entries));
  next += BigInt(entries.length);
}

/** A day's sum as it is served; `null` where it is absent. */
async function servedOf(day: string): Promise<string | null | undefined> {
  const [applied, gaps, incomplete] = [
    await appliedState(store),
    await gapStates(store),
    await incompleteState(store),
  ];
  const state = stateOf(applied, { mark: '', gaps, incomplete }, true);
  const series = revenueByDay([...(await daySeries(store)), ...datedRows(state)], new Map(), state);
  return series.find((one) => one.day === day)?.protocolCut.value as string | null | undefined;
}

const signatureOf = (name: string): string => encodeBase58(rawSignature(name));
const storedOf = async (name: string) =>
  (await storedState(store).verification?.storedBetween(slot, slot + CHAPTER - 1n))?.find(
    ({ signature }) => signature === signatureOf(name),
  );

/**
 * An event between two others of one day.
 * @param day counted from the first; no other test uses it. Where neighbours bound a time, days rise with the slots
 */
async function between(day: number, name: string) {
  const noon = EVENING + (day * 24 + 12) * 3600;
  const date = new Date(noon * 1000).toISOString().slice(0, 10);
  const at = slot + 600n;
  const one = (change: Partial<TransactionRecord>) =>
    transaction(name, at, [routed(2n)], { blockTime: null, ...change });
  const sides = [
    transaction(`before ${name}`, slot + 5n, [routed(1n)], { blockTime: noon }),
    transaction(`behind ${name}`, slot + 1200n, [routed(3n)], { blockTime: noon + 9 }),
  ];
  return { noon, date, one, sides };
}

test('while an event gets its time, its day is right or absent at every moment', async () => {
  const { noon, date, one, sides } = await between(0, 'late');
  await take([...sides, one({})]);
  expect(await servedOf(date)).toBe('6');
  const seen = new Set<unknown>();
  const look = async () => void seen.add(await servedOf(date));
  await take([one({ blockTime: noon + 4 })], watching(look));
  expect(seen).toEqual(new Set(['6', null]));
  expect(await servedOf(date)).toBe('6');
  expect(await incompleteState(store)).toMatchObject({ undatedEvents: [] });
});

test('while the only event of a day gets its time, the day is missing, absent or right at every moment', async () => {
  const { noon, date, one } = await between(3, 'alone');
  await take([one({})]);
  const seen = new Set<unknown>();
  await take(
    [one({ blockTime: noon })],
    watching(async () => void seen.add(await servedOf(date))),
  );
  expect(seen).toEqual(new Set([undefined, null, '2']));
  expect(await servedOf(date)).toBe('2');
});

test('a kill while an event gets its time leaves the day right, or absent and the event marked undated', async () => {
  let absences = 0;
  for (let diesAt = 0; ; diesAt += 2) {
    slot += CHAPTER;
    const name = `killed at ${diesAt}`;
    const { noon, date, one, sides } = await between(20 + diesAt, name);
    await take([...sides, one({})]);
    const died = await take([one({ blockTime: noon + 4 })], watching(nothing, diesAt)).then(
      () => false,
      () => true,
    );
    if (died && (await servedOf(date)) === null) {
      absences += 1;
      expect(await storedOf(name)).toMatchObject({ undated: true });
      // The verification reads such a transaction again.
      await take([one({ blockTime: noon + 4 })]);
    }
    if (died && (await storedOf(name))?.undated) continue;
    expect(await servedOf(date)).toBe('6');
    expect(await storedOf(name)).not.toHaveProperty('undated');
    if (!died) break;
  }
  expect(absences).toBeGreaterThan(1);
});

test('a repeated reading without a time never takes away the time that is known', async () => {
  const { noon, date, one, sides } = await between(9, 'again');
  await take([...sides, one({ blockTime: noon + 4 })]);
  const look = async () => expect(await servedOf(date)).toBe('6');
  await take([one({})], watching(look));
  expect(await storedOf('again')).not.toHaveProperty('undated');
});

test('a reading without a time does not override one with a time in the same batch, in either order', async () => {
  for (const [day, isFirst] of [[17, true] as const, [18, false] as const]) {
    const name = `together ${day}`;
    const { noon, date, one } = await between(day, name);
    const readings = [one({ blockTime: noon, index: null, order: 40, source: 'rpc' }), one({ index: 7 })];
    await take(isFirst ? readings : readings.toReversed());
    expect(await servedOf(date)).toBe('2');
    expect(await storedOf(name)).not.toHaveProperty('undated');
    slot += CHAPTER;
  }
});

test('a reading without an index in the block still gives an event its time', async () => {
  const { noon, date, one, sides } = await between(12, 'placeless');
  await take([...sides, one({ index: 7 })]);
  await take([one({ blockTime: noon + 4, index: null, order: 40, source: 'rpc' })]);
  expect(await servedOf(date)).toBe('6');
  expect(
    await store.query(
      'SELECT tx_index, toString(block_time) AS time FROM events FINAL WHERE signature = {of:String}',
      {
        of: signatureOf('placeless'),
      },
    ),
  ).toEqual([{ tx_index: 7, time: String(noon + 4) }]);
});

/** A transaction whose logs have one event and are then cut. */
function cutPayload(): Uint8Array {
  const tx = run([ours({ emit: routed(2n) }, { emit: credit(1) })]);
  const logs = tx.logs as string[];
  return toGeyser({ ...tx, logs: [...logs.slice(0, 2), 'Log truncated'] }, false);
}

test('a reading without an index still gives events of a transaction with cut logs their time', async () => {
  const { noon, date, one, sides } = await between(400, 'placeless and cut');
  const payload = cutPayload();
  await take([...sides, one({ payload, index: 7 })]);
  const seen = new Set<unknown>();
  await take(
    [one({ payload, blockTime: noon + 4, index: null, order: 40, source: 'rpc' })],
    watching(async () => void seen.add(await servedOf(date))),
  );
  expect(seen).toEqual(new Set(['6', null]));
  expect(await servedOf(date)).toBe('6');
  const { undatedEvents } = await incompleteState(store);
  expect(undatedEvents.filter((event) => event.slot === String(slot + 600n))).toEqual([]);
  expect(await storedOf('placeless and cut')).not.toHaveProperty('undated');
});

const emitting = () => run([ours({ emit: routed(2n) })]);

/** The transaction from a node that cuts logs earlier than the stream. */
function cutAtOnce(): Partial<TransactionRecord> {
  const tx = emitting();
  return { payload: toGeyser({ ...tx, logs: [tx.logs?.[0] as string, 'Log truncated'] }, false) };
}

/** The transaction from a node that recorded neither logs nor inner instructions. */
function unrecorded(): Partial<TransactionRecord> {
  const { meta, ...rest } = JSON.parse(Buffer.from(toJson(emitting(), false)).toString());
  const told = { ...rest, meta: { ...meta, logMessages: null, innerInstructions: null } };
  return { payload: Buffer.from(JSON.stringify(told)), format: 'json' };
}

/** Ranks of a transaction's rows in each table with its time, after checking that all have this time. */
async function ranksAt(name: string, time: number): Promise<unknown> {
  const ranks = new Set<string>();
  for (const table of ['events', 'events_by_slot', 'transactions', 'policy_transactions']) {
    const rows = await store.query<{ time: string | null; rank: number }>(
      `SELECT DISTINCT toString(block_time) AS time, has_index AS rank FROM ${table} FINAL WHERE signature = {of:String}`,
      { of: signatureOf(name) },
    );
    expect(rows.map((row) => row.time)).toEqual([String(time)]);
    ranks.add(JSON.stringify(rows.map(({ rank }) => rank)));
  }
  return [...ranks].map((one) => JSON.parse(one));
}

test.each([
  ['cut logs', 500, {}, cutAtOnce()],
  ['neither logs nor inner instructions', 503, {}, unrecorded()],
  ['less standing than a stored decision', 506, { standing: 'decides', source: 'rpc' }, {}],
] as const)(
  'a reading with %s still gives a time to events that were read whole without one',
  async (what, day, before, told) => {
    const { noon, date, one, sides } = await between(day, what);
    await take([...sides, one({ index: 7, ...before })]);
    expect(await servedOf(date)).toBe('6');
    const seen = new Set<unknown>();
    await take(
      [one({ blockTime: noon + 4, index: null, order: 40, source: 'rpc', ...told })],
      watching(async () => void seen.add(await servedOf(date))),
    );
    expect(seen).toEqual(new Set(['6', null]));
    expect(await servedOf(date)).toBe('6');
    const { undatedEvents } = await incompleteState(store);
    expect(undatedEvents.filter((event) => event.slot === String(slot + 600n))).toEqual([]);
    expect(await storedOf(what)).not.toHaveProperty('undated');
    expect(await ranksAt(what, noon + 4)).toEqual([['standing' in before ? 7 : 1]]);
  },
);

test('a kill while a reading with cut logs gives a time is made good by applying it again', async () => {
  let absences = 0;
  for (let diesAt = 0; ; diesAt += 1) {
    slot += CHAPTER;
    const name = `killed and cut at ${diesAt}`;
    const { noon, date, one, sides } = await between(520 + diesAt, name);
    await take([...sides, one({ index: 7 })]);
    const told = one({ blockTime: noon + 4, index: null, order: 40, source: 'rpc', ...cutAtOnce() });
    const died = await take([told], watching(nothing, diesAt)).then(
      () => false,
      () => true,
    );
    const served = await servedOf(date);
    if (served === null) absences += 1;
    else expect(served).toBe('6');
    await take([told]);
    expect(await servedOf(date)).toBe('6');
    expect(await storedOf(name)).not.toHaveProperty('undated');
    expect(await ranksAt(name, noon + 4)).toEqual([[1]]);
    if (!died) break;
  }
  expect(absences).toBeGreaterThan(0);
});

test('an event that a corrected time takes out of a passed hour is announced, other new events are not', async () => {
  let isTold = false;
  const onChanged = (changes: Changes) => {
    isTold = changes.has('events_by_slot');
  };
  const apply = createMaterialiser({ store, programId: PROGRAM, onChanged });
  const told = async (...records: LogRecord[]) => {
    await apply(batchOf('transactions', logOf(records, next)));
    next += BigInt(records.length);
    return isTold;
  };
  const [seventh, tip] = [slot + 7n, slot + 9n];
  const one = (change: Partial<TransactionRecord>) =>
    transaction('corrected', seventh, [routed(2n)], { payload: cutPayload(), ...change });
  await told({ ...marker(slot), blockTime: EVENING - 10 });
  expect(await told(one({ blockTime: EVENING }))).toBe(false);
  await told({ ...marker(tip), blockTime: EVENING + 15 });
  expect(await told(transaction('tip', tip + 1n, [routed(3n)], { blockTime: EVENING + 16 }))).toBe(false);
  expect(await told(one({ blockTime: EVENING + 20, source: 'rpc' }))).toBe(true);
});

test('a half-written transaction is reported as unwritten, a half-struck one still has traces to strike', async () => {
  const { noon, date, one } = await between(15, 'missing');
  const record = one({ blockTime: noon });
  for (let diesAt = 0; ; diesAt += 1) {
    const died = await take([record], watching(nothing, diesAt)).then(
      () => false,
      () => true,
    );
    if (!died) break;
    const stored = await storedOf('missing');
    if (stored !== undefined && stored.unwritten !== true) expect(await servedOf(date)).toBe('2');
  }
  expect(await servedOf(date)).toBe('2');
  const ghost = { signature: signatureOf('missing'), slot: slot + 600n };
  for (let diesAt = 0; ; diesAt += 1) {
    const struck = (await storedState(store).verification?.tracesOf([ghost])) as StruckTransaction[];
    expect(struck[0]?.events).toHaveLength(1);
    const died = await take(
      [{ kind: 'verified', slot: slot + 700n, struck }],
      watching(nothing, diesAt),
    ).then(
      () => false,
      () => true,
    );
    if (!died) break;
  }
  expect(await servedOf(date)).toBeUndefined();
});
