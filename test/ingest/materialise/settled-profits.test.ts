import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { incompleteState } from '../../../clickhouse/queries/progress/index-state.ts';
import { createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import { type RpcServer, serveRpc } from '../../../devnet/rpc/server.ts';
import { settleProfits } from '../../../ingest/history/settle-profits.ts';
import type { Topic } from '../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { factsOf } from '../../../ingest/materialise/rows/facts.ts';
import { settledFacts } from '../../../ingest/materialise/settled-profits.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { createRpc } from '../../../runtime/rpc/rpc.ts';
import { PROFIT } from '../../../schemas/incomplete.ts';
import { DEVNET_PROGRAM_ID } from '../../../schemas/program/devnet-program.ts';
import type { LogRecord, TransactionRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { freshDatabase } from '../../support/database.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { recordsOf } from '../support/ledger-records.ts';
import { batchOf, logOf, rawSignature } from './support/records.ts';
import { readTables } from './support/tables.ts';

const SEED = 'settled 1';
const SLOTS = 200;
const PROGRAM = decodeKey(DEVNET_PROGRAM_ID) as Uint8Array;

/** One chain, with the share of logs that are cut for good. */
async function chainOf(forGood: number) {
  const cutLogs = { onStream: 0, forGood };
  const chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000, cutLogs });
  const life = createLife(chain, { seed: SEED, policies: 6, rate: 3 });
  for (let made = 0; made < SLOTS; made += 1) await chain.produce(life.next());
  return chain;
}

type Chain = Awaited<ReturnType<typeof chainOf>>;

let chain: Chain;
let rpc: RpcServer;
let whole: LogRecord[];
/** Profit and events by mint, from the same chain with whole logs. */
let expected: Row[];
const open: Store[] = [];
const { signal } = new AbortController();

beforeAll(async () => {
  chain = await chainOf(1);
  rpc = await serveRpc({ ledger: chain, port: 0 });
  const records = recordsOf(await chainOf(0)).transactions.filter(({ kind }) => kind === 'transaction');
  whole = records;
  const { events } = factsOf(records as TransactionRecord[], PROGRAM, 0);
  expected = [...Map.groupBy(events, ({ mint }) => mint)]
    .filter(([mint]) => mint !== '')
    .map(([mint, of]) => {
      const profits = of.flatMap(({ kind, amount_a }) => (kind === 'ProfitSwept' ? [BigInt(amount_a)] : []));
      const profit = profits.reduce((sum, one) => sum + one, 0n).toString();
      return { mint, profit, event_count: String(of.length) };
    });
});
afterAll(async () => {
  await Promise.all(open.map((store) => store.close()));
  await rpc.close();
});

async function indexOf() {
  const store = await embeddedDatabase('several');
  open.push(store);
  const apply = createMaterialiser({ store, programId: PROGRAM });
  const next = new Map<Topic, bigint>();
  const take = async (topic: Topic, records: readonly LogRecord[]) => {
    const first = next.get(topic) ?? 0n;
    if (records.length > 0) await apply(batchOf(topic, logOf(records, first)));
    next.set(topic, first + BigInt(records.length));
  };
  /** The records that settle profits of cut transactions. */
  const settled = async (verified = chain.tip().slot, { url } = rpc): Promise<LogRecord[]> => {
    const { sweeps, openGaps } = storedState(store);
    const told: LogRecord[] = [];
    await settleProfits(
      {
        ...{ rpc: createRpc(url, { commitment: 'confirmed' }), startSlot: 0n, openGaps, signal },
        store: sweeps as NonNullable<typeof sweeps>,
        log: { append: async (records) => void told.push(...records) },
        verifiedSlot: async () => verified,
        logger: createLogger('silent', 'test'),
      },
      new Set(),
    );
    return told;
  };
  return { store, take, settled };
}

type Row = Record<string, unknown>;
const byMint = (rows: readonly Row[], ...names: string[]) =>
  new Map(rows.map((row) => [row.mint, names.map((name) => row[name])]));
const sumsOf = async (store: Store, ...names: string[]) =>
  byMint((await readTables(store)).policyTotals as Row[], ...names);
const profitOfDays = async (store: Store) =>
  ((await readTables(store)).quoteDays as Row[]).reduce(
    (sum, { profit }) => sum + BigInt(profit as string),
    0n,
  );

test('settled profits are found for a batch with more sweeps than one query list takes', async () => {
  const store = await freshDatabase();
  open.push(store);
  const isTransaction = (record: LogRecord) => record.kind === 'transaction';
  const cut = recordsOf(chain).transactions.filter(isTransaction) as TransactionRecord[];
  const { incomplete } = factsOf(cut, PROGRAM, 0);
  const one = incomplete.find(({ missing }) => missing.includes(PROFIT));
  const sweep = cut.find(({ signature }) => encodeBase58(signature) === one?.signature) as TransactionRecord;
  // More than a server takes in one list.
  const batch = Array.from({ length: 1_500 }, (_, at) => ({
    ...sweep,
    signature: rawSignature(`sweep ${at}`),
  }));
  const [policy] = one?.policies ?? [];
  const told = [batch[0], batch.at(-1)].map((record, at) => ({
    ...{ signature: encodeBase58((record as TransactionRecord).signature), policy, profit: String(7 + at) },
  }));
  await store.insert('swept_profits', told);
  const { derived } = await settledFacts(store, batch, PROGRAM, { partition: 0, told: [] });
  const swept = derived.filter(({ kind, amount_a }) => kind === 'ProfitSwept' && amount_a !== '0');
  expect(swept.map(({ signature, amount_a: profit }) => ({ signature, policy, profit }))).toEqual(told);
});

test('every profit of a chain whose logs are all cut is settled from the states around it, and stays so', async () => {
  const { accounts, transactions } = recordsOf(chain);
  const index = await indexOf();
  await index.take('transactions', transactions);
  expect(await index.settled()).toEqual([]);
  await index.take('accounts', accounts);
  expect(await index.settled(0n)).toEqual([]);
  expect((await incompleteState(index.store)).count).toBeGreaterThan(5);

  const told = await index.settled();
  await index.take('transactions', told);
  expect(await incompleteState(index.store)).toMatchObject({ count: 0, policies: [], days: [] });
  const all = expected.reduce((sum, { profit }) => sum + BigInt(profit as string), 0n);
  expect(await sumsOf(index.store, 'profit')).toEqual(byMint(expected, 'profit'));
  expect(await profitOfDays(index.store)).toBe(all);
  expect(await index.settled()).toEqual([]);

  // Another reading of the same cut logs takes nothing back.
  await index.take(
    'transactions',
    transactions.filter(({ kind }) => kind === 'transaction'),
  );
  expect(await incompleteState(index.store)).toMatchObject({ count: 0 });
  expect(await sumsOf(index.store, 'profit')).toEqual(byMint(expected, 'profit'));
  expect(await profitOfDays(index.store)).toBe(all);

  // A database that reads the log from its beginning has the same, in whatever order accounts come.
  const again = await indexOf();
  await again.take('accounts', accounts.toReversed());
  await again.take('transactions', [...transactions, ...told]);
  expect(await sumsOf(again.store, 'profit')).toEqual(byMint(expected, 'profit'));
  const { policyMarks } = await readTables(index.store);
  expect((await readTables(again.store)).policyMarks).toEqual(policyMarks);

  // Whole readings replace all of it.
  await index.take('transactions', whole);
  const names = ['profit', 'event_count'];
  expect(await sumsOf(index.store, ...names)).toEqual(byMint(expected, ...names));
});

test('a transaction that is read again for its profit keeps its place where no node gives an index', async () => {
  const { accounts, transactions } = recordsOf(chain);
  const unplaced = transactions.map((record) =>
    record.kind === 'transaction' ? { ...record, index: null, order: 7 + (record.index ?? 0) } : record,
  );
  const index = await indexOf();
  await index.take('transactions', unplaced);
  await index.take('accounts', accounts);
  const plain = await serveRpc({ ledger: chain, port: 0, withIndex: false });
  const told = await index.settled(chain.tip().slot, plain).finally(() => plain.close());
  const places = (records: readonly LogRecord[]) =>
    records.flatMap((one) => (one.kind === 'transaction' ? [`${one.slot} ${one.index} ${one.order}`] : []));
  expect(places(told).length).toBeGreaterThan(5);
  expect(places(unplaced)).toEqual(expect.arrayContaining(places(told)));
});

test('no profit is settled while an open gap may hide another sweep', async () => {
  const { accounts, transactions } = recordsOf(chain);
  const index = await indexOf();
  await index.take('accounts', accounts);
  const gap: LogRecord = { kind: 'gap', fromSlot: 0n, toSlot: chain.tip().slot, toTime: null, closed: false };
  await index.take('transactions', [gap, ...transactions]);
  expect(await index.settled()).toEqual([]);
});

test('marks in a slot with a struck transaction of the policy are not used to settle profits', async () => {
  const index = await indexOf();
  const policy = 'a policy';
  const mark = (slot: bigint) => ({
    ...{ policy, hwm: slot.toString(), profit_swept: '0', slot: slot.toString() },
    before: (2n ** 64n - 1n - slot).toString(),
  });
  await index.store.insert('policy_marks', [10n, 12n, 20n, 22n].map(mark));
  const around = async () => {
    const marks = await storedState(index.store).sweeps?.marksAround(policy, 15n);
    return [marks?.before, marks?.after].map((some) => some?.map(({ slot }) => slot));
  };
  expect(await around()).toEqual([
    [12n, 10n],
    [20n, 22n],
  ]);
  const struck = [12n, 20n].map((slot) => ({
    ...{ signature: `of ${slot}`, slot, policies: [policy], events: [] },
  }));
  await index.take('transactions', [{ kind: 'verified', slot: 30n, struck }]);
  expect(await around()).toEqual([[10n], [22n]]);
});
