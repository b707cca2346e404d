import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { appliedState } from '../../../clickhouse/queries/progress/index-state.ts';
import { verifiedSlot } from '../../../clickhouse/queries/progress/verification.ts';
import { lastTransactions } from '../../../clickhouse/queries/states/policy.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import type { LogRecord, StruckTransaction } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, key, logOf, PROGRAM, rawSignature, routed, transaction } from './support/records.ts';
import { readTables } from './support/tables.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});

afterAll(() => store.close());

const sums = async () =>
  store.query('SELECT mint, routed, event_count FROM policy_totals FINAL ORDER BY mint') as Promise<
    { routed: string; event_count: string }[]
  >;
const days = () =>
  store.query('SELECT sum(event_count) AS count, sum(protocol_cut) AS cut FROM quote_days FINAL');

test('a struck transaction is removed from facts and sums, and counts again in a slot that has it', async () => {
  const apply = createMaterialiser({ store, programId: PROGRAM });
  let next = 0n;
  const take = async (...records: LogRecord[]) => {
    await apply(batchOf('transactions', logOf(records, next)));
    next += BigInt(records.length);
  };
  await take(transaction('kept', 10n, [routed(100n)]));
  const before = { sums: await sums(), days: await days() };
  const stored = () => storedState(store).verification?.storedBetween(0n, 20n);
  const named = (name: string, slot: bigint) => ({
    signature: encodeBase58(rawSignature(name)),
    ...{ slot, outcome: 'effects' },
  });
  await take(transaction('ghost', 12n, [routed(7n)], { blockTime: null }));
  expect(await stored()).toEqual(
    expect.arrayContaining([named('kept', 10n), { ...named('ghost', 12n), undated: true }]),
  );
  await take(transaction('ghost', 12n, [routed(7n)]));
  expect(await stored()).toEqual(expect.arrayContaining([named('kept', 10n), named('ghost', 12n)]));
  expect(await sums()).not.toEqual(before.sums);
  const signature = encodeBase58(rawSignature('ghost'));
  const struck = (await storedState(store).verification?.tracesOf([
    { signature, slot: 12n },
  ])) as StruckTransaction[];
  expect(struck).toMatchObject([{ signature, events: [{ mint: key('mint') }] }]);
  await take({ kind: 'verified', slot: 20n, struck });
  expect({ sums: await sums(), days: await days() }).toEqual(before);
  // How accounts were at the end of that slot is not known.
  expect(await store.query('SELECT after_slot, to_slot FROM stream_holes')).toEqual([
    { after_slot: '11', to_slot: '13' },
  ]);
  expect(await verifiedSlot(store)).toBe(20n);
  const policy = struck[0]?.events[0]?.policy as string;
  const last = await lastTransactions(store, [policy]);
  expect(last.get(policy)?.signature).toBe(encodeBase58(rawSignature('kept')));

  const tables = await readTables(store);
  const replay = createMaterialiser({ store, programId: PROGRAM });
  await replay(
    batchOf(
      'transactions',
      logOf([transaction('ghost', 12n, [routed(7n)]), { kind: 'verified', slot: 20n, struck }], 1n),
    ),
  );
  expect(await readTables(store)).toEqual(tables);

  await replay(batchOf('transactions', logOf([transaction('ghost', 30n, [routed(7n)])], 3n)));
  expect((await sums())[0]).toMatchObject({ routed: '107', event_count: '2' });
});

test('the last signature is never a struck one, also once the partition has a new owner', async () => {
  const store = await embeddedDatabase('several');
  const next = [0n, 0n];
  let apply = createMaterialiser({ store, programId: PROGRAM });
  const take = async (partition: number, ...records: LogRecord[]) => {
    await apply(batchOf('transactions', logOf(records, next[partition]), { partition }));
    next[partition] = (next[partition] as bigint) + BigInt(records.length);
  };
  const last = async () => (await appliedState(store)).last_signature;
  const named = (name: string) => encodeBase58(rawSignature(name));
  const strike = (name: string, slot: bigint): LogRecord => ({
    ...{ kind: 'verified', slot: 20n },
    struck: [{ signature: named(name), slot, events: [], policies: [] }],
  });
  await take(0, transaction('kept', 10n, [routed(100n)]));
  await take(1, transaction('ghost', 12n, [routed(7n)]));
  expect(await last()).toBe(named('ghost'));
  // Struck in another slot: the chain may have it in this one.
  await take(1, strike('ghost', 11n));
  expect(await last()).toBe(named('ghost'));
  await take(1, strike('ghost', 12n));
  expect(await last()).toBe(named('kept'));
  await take(0, strike('kept', 10n));
  expect(await last()).toBeNull();
  // The next owner of the partition does not take a transaction from history for the newest.
  apply = createMaterialiser({ store, programId: PROGRAM });
  await take(1, transaction('older', 5n, []));
  expect(await last()).toBeNull();
  // A transaction that comes back is named again.
  await take(1, transaction('ghost', 12n, [routed(7n)]));
  expect(await last()).toBe(named('ghost'));
  await take(1, transaction('newer', 13n, []));
  expect(await last()).toBe(named('newer'));
  await store.close();
});
