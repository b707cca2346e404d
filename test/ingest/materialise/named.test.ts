import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  loadUnreadNames,
  refreshUnreadNames,
  type UnreadNames,
} from '../../../api/latest/kinds/tallies/unread-names.ts';
import { addChanges, type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { unreadAccounts } from '../../../clickhouse/queries/progress/unread-accounts.ts';
import { migrations } from '../../../clickhouse/schema/migrate.ts';
import { statementsOf } from '../../../clickhouse/schema/statements.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { policyRow, venueAccountRow } from '../../api/support/rows.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, event, key, logOf, PROGRAM, routed, transaction } from './support/records.ts';

const SEED = process.env.SEED ?? 'named-1';
const MINTS = Array.from({ length: 12 }, (_, at) => `mint ${at}`);
const policyOf = (mint: string): string => key(`policy of ${mint}`);

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

/** The named accounts, from all present events. */
const FROM_EVENTS = `
  SELECT DISTINCT policy, '' AS token_account FROM events FINAL
  WHERE policy != '' AND kind != '' AND policy NOT IN (SELECT address FROM policies)
  UNION ALL
  SELECT DISTINCT policy, JSONExtractString(summary, 'tokenAccount') AS token_account FROM events FINAL
  WHERE kind = 'VenueRegistered'
    AND (policy, JSONExtractString(summary, 'tokenAccount')) NOT IN (SELECT policy, token_account FROM venue_accounts)`;

const inOrder = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row)).sort();

async function expectTheSame(): Promise<number> {
  const byEvents = inOrder(await store.query(FROM_EVENTS));
  expect(inOrder(await unreadAccounts(store))).toEqual(byEvents);
  return byEvents.length;
}

const unreadCount = async (): Promise<number> => (await unreadAccounts(store)).length;

/** A reader's copy, kept up to date by the announced changes. */
async function createKept() {
  let changes: Changes = new Map();
  let names: UnreadNames = await loadUnreadNames(store);
  return {
    onChanged: (written: Changes) => addChanges(changes, written),
    insert: async (table: string, row: object) => {
      noteRows(changes, table, [row]);
      await store.insert(table, [row]);
    },
    count: async () => {
      const told = changes;
      changes = new Map();
      names = await refreshUnreadNames(store, names, told);
      return names.count;
    },
  };
}

const registered = (mint: string, venue: string): Uint8Array =>
  event(
    'VenueRegistered',
    { tokenAccount: key(venue), assetMint: key('asset'), kind: 0, assetClass: 1 },
    mint,
  );

test(`unread accounts are those that standing events name and that are not stored (SEED=${SEED})`, async () => {
  const random = createRandom(SEED);
  const kept = await createKept();
  const { onChanged } = kept;
  let apply = createMaterialiser({ store, programId: PROGRAM, onChanged });
  const log: LogRecord[] = [];
  const standing: { signature: Uint8Array; slot: bigint }[] = [];
  const take = async (records: LogRecord[]) => {
    const first = BigInt(log.length);
    log.push(...records);
    await apply(batchOf('transactions', logOf(records, first)));
  };
  const seen = new Set<number>();
  for (let step = 0; step < 30; step += 1) {
    const slot = BigInt(10 + step);
    const venue = `venue ${random.int(0, 9)}`;
    const mint = random.pick(MINTS);
    const some = transaction(
      `step ${step}`,
      slot,
      random.chance(0.5) ? [routed(1n, mint)] : [registered(mint, venue), routed(1n, random.pick(MINTS))],
    );
    standing.push(some);
    await take([some]);
    if (random.chance(0.3)) {
      const [gone] = standing.splice(random.int(0, standing.length - 1), 1) as [(typeof standing)[number]];
      const named = [{ signature: encodeBase58(gone.signature), slot: gone.slot }];
      const struck = (await storedState(store).verification?.tracesOf(named)) ?? [];
      await take([{ kind: 'verified', slot, struck }]);
    }
    if (random.chance(0.2)) {
      const address = policyOf(random.pick(MINTS));
      await kept.insert('policies', policyRow('read', 'usd', { address }));
    }
    if (random.chance(0.2)) {
      const of = { policy: policyOf(random.pick(MINTS)), token_account: key(`venue ${random.int(0, 9)}`) };
      const account = venueAccountRow('read', 'read', { ...of, address: key(JSON.stringify(of)) });
      await kept.insert('venue_accounts', account);
    }
    // Another process takes over, and reads some of the log again.
    if (random.chance(0.2)) {
      apply = createMaterialiser({ store, programId: PROGRAM, onChanged });
      const from = random.int(0, log.length - 1);
      await apply(batchOf('transactions', logOf(log.slice(from), BigInt(from))));
    }
    const unread = await expectTheSame();
    expect(await kept.count()).toBe(unread);
    seen.add(unread);
  }
  expect(seen.size).toBeGreaterThan(3);

  // The migration fills the table in a store from before it existed, and the same log fills it anew.
  const held = () => store.query('SELECT * FROM named_accounts FINAL ORDER BY ALL');
  const before = await expectTheSame();
  const names = await held();
  await store.command('TRUNCATE TABLE named_accounts');
  expect(await unreadCount()).toBe(0);
  const { sql = '' } = migrations().find(({ name }) => name.startsWith('0024')) ?? {};
  for (const statement of statementsOf(sql)) await store.command(statement);
  expect(await expectTheSame()).toBe(before);
  await store.command('TRUNCATE TABLE named_accounts');
  const anew = createMaterialiser({ store, programId: PROGRAM });
  await anew(batchOf('transactions', logOf(log)));
  expect(await expectTheSame()).toBe(before);
  expect(await held()).toEqual(names);
});

test('a policy that only a struck transaction names is not unread, until another transaction names it', async () => {
  const apply = createMaterialiser({ store, programId: PROGRAM });
  const before = await unreadCount();
  const ghost = transaction('ghost', 90n, [registered('only a ghost', 'spot')]);
  const take = (records: LogRecord[], first: bigint) =>
    apply(batchOf('transactions', logOf(records, first), { partition: 1 }));
  await take([ghost], 0n);
  expect(await unreadCount()).toBe(before + 2);
  const named = [{ signature: encodeBase58(ghost.signature), slot: 90n }];
  const struck = (await storedState(store).verification?.tracesOf(named)) ?? [];
  await take([{ kind: 'verified', slot: 90n, struck }], 1n);
  expect(await unreadCount()).toBe(before);
  await take([transaction('real', 91n, [routed(1n, 'only a ghost')])], 2n);
  expect(await unreadAccounts(store)).toContainEqual({ policy: policyOf('only a ghost'), token_account: '' });
  expect(await expectTheSame()).toBe(before + 1);
});

test('a process writes a name once, and again where its batch failed', async () => {
  const inserted: number[] = [];
  let broken: string | null = 'named_accounts';
  const counting: Store = {
    ...store,
    insert: async (table, rows) => {
      if (table === 'named_accounts') inserted.push(rows.length);
      if (table === broken) throw new Error('the connection was cut');
      await store.insert(table, rows);
    },
  };
  const apply = createMaterialiser({ store: counting, programId: PROGRAM });
  const batch = (name: string, at: bigint) =>
    batchOf(
      'transactions',
      logOf([transaction(name, 200n + at, [routed(1n, 'once'), routed(2n, 'once')])], at),
      {
        partition: 2,
      },
    );
  await expect(apply(batch('first', 0n))).rejects.toThrow('the connection was cut');
  // The row is written by then and was not announced: the next writer must not take it for known.
  broken = 'events';
  await expect(apply(batch('first', 0n))).rejects.toThrow('the connection was cut');
  broken = null;
  await apply(batch('first', 0n));
  await apply(batch('second', 1n));
  expect(inserted).toEqual([1, 1, 1]);
  await expectTheSame();
});
