import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import type { LogBatch, LogEntry, Topic } from '../../../ingest/log/port.ts';
import { PartitionLostError } from '../../../ingest/materialise/begun-batch.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { recordsOf } from '../support/ledger-records.ts';

const SEED = process.env.SEED ?? 'materialise-1';

let store: Store;

beforeEach(async () => {
  store = await embeddedDatabase();
});
afterEach(() => store.close());

async function chainOf(slots: number) {
  const chain = createChain({ dir: null, seed: SEED, genesisTime: Date.UTC(2026, 0, 1, 23, 58) });
  const life = createLife(chain, { seed: SEED, policies: 6, rate: 4, metadataBase: 'http://127.0.0.1:1' });
  for (let slot = 0; slot < slots; slot += 1) await chain.produce(life.next());
  return chain;
}

function batch(topic: Topic, entries: LogEntry[], owned = () => true): LogBatch {
  return { topic, partition: 0, entries, owned };
}

function logOf(records: readonly LogRecord[]): LogEntry[] {
  return records.map((record, index) => ({ offset: BigInt(index), record }));
}

/** Every row that readers sum or list, in a fixed order. */
async function tables(): Promise<Record<string, unknown[]>> {
  const without = (columns: string, table: string, order: string) =>
    store.query(`SELECT * EXCEPT (${columns}) FROM ${table} FINAL ORDER BY ${order}`);
  return {
    events: await without('log_partition', 'events', 'slot, signature, position'),
    bySlot: await without('log_partition', 'events_by_slot', 'slot, signature, position'),
    totals: await without('log_offset', 'policy_totals', 'mint'),
    days: await without('log_offset', 'quote_days', 'day, quote_mint'),
    transactions: await without('has_index', 'transactions', 'signature'),
    policyTransactions: await without('has_index', 'policy_transactions', 'policy, slot, signature'),
    policies: await without('version', 'policies', 'address'),
    tokens: await without('version', 'token_accounts', 'address'),
  };
}

async function apply(topic: Topic, log: readonly LogEntry[], cuts: readonly number[]): Promise<void> {
  const materialise = createMaterialiser({ store, programId: programId as Uint8Array });
  let start = 0;
  for (const end of [...cuts, log.length]) {
    if (end > start) await materialise(batch(topic, log.slice(start, end)));
    start = end;
  }
}

let programId: Uint8Array | null = null;

describe(`batches of the log (seed ${SEED})`, () => {
  test('replayed and cut differently change no row', async () => {
    const chain = await chainOf(120);
    programId = decodeKey(chain.programId);
    const { accounts, transactions } = recordsOf(chain);
    const log = logOf(transactions);
    await apply('accounts', logOf(accounts), [500]);
    await apply('transactions', log, [40, 100]);
    const once = await tables();
    expect(once.events?.length).toBeGreaterThan(100);
    expect(new Set((once.days as { day: string }[]).map(({ day }) => day)).size).toBe(1);

    for (const cuts of [[7, 8, 90], [], [log.length - 1]]) await apply('transactions', log, cuts);
    await apply('transactions', log.slice(50), [3]);
    await apply('accounts', logOf(accounts), [1, 20]);

    expect(await tables()).toEqual(once);
  });

  test('stale sums that a paused owner writes late do not replace the newer ones', async () => {
    const chain = await chainOf(60);
    programId = decodeKey(chain.programId);
    const log = logOf(recordsOf(chain).transactions);
    await apply('transactions', log.slice(0, 60), []);
    const stale = await store.query<Record<string, unknown>>('SELECT * FROM policy_totals FINAL');
    const staleDays = await store.query<Record<string, unknown>>('SELECT * FROM quote_days FINAL');
    await apply('transactions', log, []);
    const right = await tables();
    // Sums that the paused owner computed from earlier facts, written now.
    await store.insert('policy_totals', stale);
    await store.insert('quote_days', staleDays);
    expect(await tables()).toEqual(right);

    // The same write without the rule that makes it lose shows that this test can fail.
    await store.insert(
      'policy_totals',
      stale.map((row) => ({ ...row, log_offset: '18446744073709551615' })),
    );
    expect(await tables()).not.toEqual(right);
  });

  test('replayed in part count each event once, in the facts and in the sums', async () => {
    const chain = await chainOf(40);
    programId = decodeKey(chain.programId);
    const log = logOf(recordsOf(chain).transactions);
    await apply('transactions', log, []);
    const facts = () => store.query<{ n: string }>('SELECT count() AS n FROM events FINAL');
    const once = await facts();
    await apply('transactions', log.slice(10), []);
    expect(await facts()).toEqual(once);
    const [summed] = await store.query<{ n: string }>(
      "SELECT sum(event_count) AS n FROM policy_totals FINAL WHERE mint != ''",
    );
    const [ofPolicies] = await store.query<{ n: string }>(
      "SELECT count() AS n FROM events FINAL WHERE mint != ''",
    );
    expect(summed?.n).toBe(ofPolicies?.n);
  });

  test('of a partition that was taken away fail and are not marked as applied', async () => {
    const chain = await chainOf(30);
    programId = decodeKey(chain.programId);
    const materialise = createMaterialiser({ store, programId: programId as Uint8Array });
    const log = logOf(recordsOf(chain).transactions);
    await expect(materialise(batch('transactions', log, () => false))).rejects.toThrow(PartitionLostError);
    expect(await store.query('SELECT * FROM applied')).toEqual([]);
  });
});

describe('a malformed state', () => {
  test('becomes a dead letter with kind, address, reason and bytes; the last valid state stays', async () => {
    const chain = await chainOf(30);
    programId = decodeKey(chain.programId);
    const { accounts } = recordsOf(chain);
    await apply('accounts', logOf(accounts), []);
    const before = await tables();
    const good = accounts.find(
      (record): record is AccountRecord =>
        record.kind === 'account' &&
        Buffer.compare(record.owner, programId as Uint8Array) === 0 &&
        record.data.length > 360,
    ) as AccountRecord;
    const bad: AccountRecord = { ...good, slot: good.slot + 1_000n, data: good.data.slice(0, 100) };
    const log = [{ offset: BigInt(accounts.length), record: bad }];
    const materialise = createMaterialiser({ store, programId: programId as Uint8Array });
    await materialise(batch('accounts', log));

    expect(await tables()).toEqual(before);
    const letters = await store.query<{ what: string; at: string; reason: string; bytes: string }>(
      'SELECT what, at, reason, bytes FROM dead_letters FINAL',
    );
    expect(letters).toHaveLength(1);
    expect(letters[0]?.what).toMatch(/^account:/);
    expect(letters[0]?.at).toBe(encodeBase58(good.address));
    expect(letters[0]?.reason).toMatch(/100 bytes/);
    expect(Buffer.from(letters[0]?.bytes ?? '', 'base64')).toEqual(Buffer.from(bad.data));
  });
});
