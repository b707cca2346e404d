import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { incompleteState, missingMark } from '../../../clickhouse/queries/progress/index-state.ts';
import { unresolvedTransactions } from '../../../clickhouse/queries/progress/stream-store.ts';
import { unsettledSweeps } from '../../../clickhouse/queries/progress/swept-profits.ts';
import { createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import { DEVNET_PROGRAM_ID } from '../../../schemas/program/devnet-program.ts';
import type { LogRecord, TransactionRecord, VerifiedRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { toGeyser } from '../../schemas/support/encode-transaction.ts';
import { run } from '../../schemas/support/run.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { recordsOf } from '../support/ledger-records.ts';
import { batchOf, logOf } from './support/records.ts';
import { readTables } from './support/tables.ts';

const SEED = 'two slots 1';
const SLOTS = 160;
const BELOW = 5n;
const ABOVE = 10_000n;

/** The transactions of one chain, with the share of logs that are cut. */
async function transactions(forGood: number): Promise<TransactionRecord[]> {
  const cutLogs = { onStream: 0, forGood };
  const chain = createChain({ dir: null, seed: SEED, genesisTime: 1_760_000_000_000, cutLogs });
  const life = createLife(chain, { seed: SEED, policies: 6, rate: 3 });
  for (let made = 0; made < SLOTS; made += 1) await chain.produce(life.next());
  const records = recordsOf(chain).transactions.filter((one) => one.kind === 'transaction');
  // Shifted, so that nothing else is in the slot that died.
  return records.map((one) => ({ ...one, slot: one.slot + 100n }));
}

const FAILED = toGeyser(run([], true), false);
const inDeadSlot = (
  slot: bigint,
  records: readonly TransactionRecord[],
  change: Partial<TransactionRecord> = {},
) => records.map((one) => ({ ...one, slot, ...change }));
/** The transactions from a node that does not know their index. */
const readAgain = (records: readonly TransactionRecord[]): TransactionRecord[] =>
  records.map((one) => ({ ...one, source: 'rpc', index: null }));

let whole: TransactionRecord[];
let cut: TransactionRecord[];
/** What should be stored where all logs are cut, and where none are. */
let ofCut: Told;
let ofWhole: Told;
const open: Store[] = [];
type Told = Awaited<ReturnType<typeof told>>;

async function begun() {
  const store = await embeddedDatabase('several');
  open.push(store);
  const apply = createMaterialiser({ store, programId: decodeKey(DEVNET_PROGRAM_ID) as Uint8Array });
  let next = 0n;
  const take = async (...records: LogRecord[]) => {
    await apply(batchOf('transactions', logOf(records, next)));
    next += BigInt(records.length);
  };
  return { store, take };
}

async function applied(...batches: (readonly LogRecord[])[]): Promise<Store> {
  const { store, take } = await begun();
  for (const batch of batches) await take(...batch);
  return store;
}

/** The record that takes out everything stored of the slot that died. */
async function strike(store: Store, records: readonly TransactionRecord[]): Promise<VerifiedRecord> {
  const gone = records.map(({ signature, slot }) => ({ signature: encodeBase58(signature), slot }));
  const struck = await storedState(store).verification?.tracesOf(gone);
  return { kind: 'verified', slot: 1_000n, struck: struck as VerifiedRecord['struck'] };
}

/** Sums, what is missing from them, and what waits to be read again or settled. */
async function told(store: Store) {
  const [{ policyTotals, quoteDays }, missing] = [await readTables(store), await incompleteState(store)];
  return {
    ...{ policyTotals, quoteDays, count: missing.count },
    policies: missing.policies.toSorted(),
    unresolved: (await unresolvedTransactions(store)).toSorted((a, b) =>
      a.signature < b.signature ? -1 : 1,
    ),
    unsettled: await unsettledSweeps(store, 10_000n, { slot: 0n, signature: '' }, 10_000),
  };
}

/** Makes the engine merge now what it merges some time later: one row of each key is left. */
async function merged(store: Store): Promise<Store> {
  for (const table of ['transactions', 'incomplete_by_slot', 'disputed_transactions'])
    await store.command(`OPTIMIZE TABLE ${table} FINAL`);
  return store;
}

beforeAll(async () => {
  [whole, cut] = [await transactions(0), await transactions(1)];
  [ofCut, ofWhole] = [await told(await applied(cut)), await told(await applied(whole))];
  expect(ofCut.count).toBeGreaterThan(3);
  expect(ofCut.unsettled.length).toBe(ofCut.count);
  expect(ofWhole).toMatchObject({ count: 0, unresolved: [] });
});
afterAll(() => Promise.all(open.map((store) => store.close())));

describe.each([
  ['below', BELOW],
  ['above', ABOVE],
])(
  'a transaction that was seen in a dead slot %s the slot in which it landed, where its logs are cut',
  (_where, slot) => {
    const failed = () => inDeadSlot(slot, cut, { payload: FAILED });

    test.each([
      ['before the slot where it landed', () => [failed(), cut]],
      ['in one batch with the slot where it landed', () => [[...failed(), ...cut]]],
      ['after the slot where it landed', () => [cut, failed()]],
      ['between two readings of the slot where it landed', () => [cut, failed(), cut]],
    ])(
      'counts as derived and stays incomplete, though it failed in the dead slot, which was read %s',
      async (_, batches) => {
        const store = await applied(...batches());
        expect(await told(await merged(store))).toEqual(ofCut);
      },
    );

    test('stays incomplete after the dead one, failed, cut or whole, is struck before or after it lands', async () => {
      for (const dead of [failed(), inDeadSlot(slot, cut), inDeadSlot(slot, whole)])
        for (const order of ['before', 'behind']) {
          const { store, take } = await begun();
          await take(...dead);
          if (order === 'behind') await take(...cut);
          if (order === 'behind') expect((await told(await merged(store))).count).toBe(ofCut.count);
          await take(await strike(store, dead));
          if (order === 'before') await take(...cut);
          expect(await told(await merged(store))).toEqual(ofCut);
          // Once more, as a replay does.
          await take(...cut);
          expect(await told(await merged(store))).toEqual(ofCut);
        }
    });

    test('is complete once it is read whole where it landed, though a row of the dead slot stays', async () => {
      const store = await applied(failed(), cut, readAgain(whole));
      await merged(store);
      const kept = await store.query<{ slot: string }>('SELECT DISTINCT slot FROM transactions');
      expect(kept).toContainEqual({ slot: slot.toString() });
      expect(await told(store)).toMatchObject({ ...ofWhole, unresolved: expect.anything() });
    });

    test('stays complete where its cut logs come after it was read whole', async () => {
      const { store, take } = await begun();
      await take(...failed());
      await take(...readAgain(whole));
      await merged(store);
      await take(...cut);
      const { policyTotals, quoteDays } = ofWhole;
      expect(await told(store)).toMatchObject({ policyTotals, quoteDays });
    });
  },
);

test.each([
  ['below', BELOW],
  ['above', ABOVE],
])(
  'a sweep that is whole where it landed is incomplete until its cut copy in a dead slot (%s) is struck',
  async (_where, slot) => {
    const sweeps = new Set(ofCut.unsettled.map(({ signature }) => signature));
    const dead = inDeadSlot(slot, cut).filter(({ signature }) => sweeps.has(encodeBase58(signature)));
    const { store, take } = await begun();
    await take(...whole);
    const before = await missingMark(store);
    await take(...dead);
    expect((await told(await merged(store))).count).toBe(sweeps.size);
    expect(await missingMark(store)).not.toBe(before);
    await take(...whole);
    expect((await told(await merged(store))).count).toBe(sweeps.size);
    await take(await strike(store, dead));
    expect(await told(await merged(store))).toEqual(ofWhole);
    expect(await missingMark(store)).toBe(before);
    // Nor is it compared with the chain again.
    expect(await storedState(store).verification?.storedBetween(slot, slot)).toEqual([]);
  },
);
