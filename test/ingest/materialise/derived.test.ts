import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { activityPage } from '../../../clickhouse/queries/activity/activity.ts';
import { incompleteState } from '../../../clickhouse/queries/progress/index-state.ts';
import { unresolvedTransactions } from '../../../clickhouse/queries/progress/stream-store.ts';
import { eventsOfDay } from '../../../clickhouse/queries/ranking/day-windows.ts';
import { createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { lacks } from '../../../schemas/incomplete.ts';
import { DEVNET_PROGRAM_ID } from '../../../schemas/program/devnet-program.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { recordsOf } from '../support/ledger-records.ts';
import { batchOf, logOf } from './support/records.ts';
import { readTables, type Tables } from './support/tables.ts';

const SEED = 'derived 3';
const SLOTS = 260;

/** The transactions of one chain, with the share of logs that are cut. */
async function transactions(forGood: number): Promise<LogRecord[]> {
  const cutLogs = { onStream: 0, forGood };
  const chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000, cutLogs });
  const life = createLife(chain, { seed: SEED, policies: 6, rate: 3 });
  for (let made = 0; made < SLOTS; made += 1) await chain.produce(life.next());
  return recordsOf(chain).transactions.filter(({ kind }) => kind === 'transaction');
}

let whole: LogRecord[];
let cut: LogRecord[];
let expected: Tables;
const open: Store[] = [];

async function applied(...batches: LogRecord[][]): Promise<Store> {
  return appliedTo(await embeddedDatabase('several'), batches);
}

async function appliedTo(store: Store, batches: LogRecord[][]): Promise<Store> {
  open.push(store);
  const apply = createMaterialiser({ store, programId: decodeKey(DEVNET_PROGRAM_ID) as Uint8Array });
  let first = 0n;
  for (const batch of batches) {
    await apply(batchOf('transactions', logOf(batch, first)));
    first += BigInt(batch.length);
  }
  return store;
}

beforeAll(async () => {
  [whole, cut] = [await transactions(0), await transactions(1)];
  expected = await standing(await applied(whole));
});
// The next test reuses their databases.
afterEach(async () => void (await Promise.all(open.splice(0).map((store) => store.close()))));

/** All tables without the events that were taken back, and without the list of transactions that were cut. */
async function standing(store: Store): Promise<Tables> {
  const { incomplete: _, ...tables } = await readTables(store);
  const stands = (rows: unknown[] | undefined) =>
    (rows ?? []).filter((row) => (row as { kind: string }).kind !== '');
  return { ...tables, events: stands(tables.events), bySlot: stands(tables.bySlot) };
}

type Totals = Record<string, string> & { mint: string };
const COUNTED = ['claim_count', 'event_count', 'profit'];
const amounts = (tables: Tables) =>
  (tables.policyTotals as Totals[]).map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !COUNTED.includes(name))),
  );

describe('transactions whose logs were cut', () => {
  test('count in every sum, and only the profit of sweeps is missing', async () => {
    const store = await applied(cut);
    expect(amounts(await standing(store))).toEqual(amounts(expected));
    const { policies, days, undated } = await incompleteState(store);
    const what = new Set([...policies, ...days].map(([, missing]) => missing));
    expect([...what]).toEqual(['ProfitSwept.profit']);
    expect([...what].some((missing) => lacks([missing], 'ProfitSwept.toLp'))).toBe(false);
    expect(undated).toEqual([]);
  });

  test('show one activity item, marked as derived, for all events of a kind', async () => {
    const store = await applied(cut);
    const [row] = expected.policyTotals as Totals[];
    const page = await activityPage(store, row?.mint ?? '', 200, 0, false);
    const derived = page.filter((item) => item.derived === 1);
    expect(derived.length).toBeGreaterThan(5);
    const names = derived.map(({ signature, kind }) => `${signature}/${kind}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each([
    ['before', () => [cut, whole]],
    ['after', () => [whole, cut]],
    ['in one batch before', () => [[...cut, ...whole]]],
    ['in one batch after', () => [[...whole, ...cut]]],
    ['before, and again', () => [cut, whole, cut]],
  ] as const)('leave no trace once they are read whole too: the cut logs come %s', async (_, batches) => {
    // As the only writer, a process that has written no derived event does not look for any.
    const store = await appliedTo(await embeddedDatabase(), batches() as LogRecord[][]);
    expect(await standing(store)).toEqual(expected);
    expect(await incompleteState(store)).toMatchObject({ count: 0, policies: [], days: [] });
    expect(await unresolvedTransactions(store)).toEqual([]);
    const mints = (expected.policyTotals as Totals[]).map(({ mint }) => mint);
    const [newest] = await store.query<{ at: string }>('SELECT max(block_time) AS at FROM events');
    const counts = await eventsOfDay(store, mints, Number(newest?.at));
    for (const { mint, event_count } of expected.policyTotals as Totals[])
      expect(counts.get(mint)?.row.row.count ?? 0).toBe(Number(event_count));
  });

  test('leave no trace once they are read whole, also where several processes write to the database', async () => {
    const store = await applied(cut, whole);
    expect(await standing(store)).toEqual(expected);
  });

  test('stay replaced by the whole reading where a paused writer stores their derived events late', async () => {
    const store = await applied([...cut, ...whole]);
    const late = await applied(cut);
    const rows = await late.query<Record<string, unknown>>(
      'SELECT * FROM events FINAL WHERE position >= 32768',
    );
    expect(rows.length).toBeGreaterThan(20);
    await store.insert('events', rows);
    expect(await standing(store)).toEqual(expected);
  });
});
