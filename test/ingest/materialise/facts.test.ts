import { setImmediate as breathe } from 'node:timers/promises';
import { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { undatedEvents } from '../../../clickhouse/queries/analytics/undated.ts';
import { incompleteState } from '../../../clickhouse/queries/progress/index-state.ts';
import {
  closedUpTo,
  lowestMarker,
  openGaps,
  startOffsets,
  unresolvedTransactions,
} from '../../../clickhouse/queries/progress/stream-store.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { factsYielding } from '../../../ingest/materialise/rows/facts.ts';
import { settledFacts } from '../../../ingest/materialise/settled-profits.ts';
import { EVENTS } from '../../../schemas/program/idl.ts';
import type { DeadLetterRecord, GapRecord, LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { anyStruct, SEED } from '../../schemas/support/arbitraries.ts';
import { toGeyser } from '../../schemas/support/encode-transaction.ts';
import { ours } from '../../schemas/support/program-calls.ts';
import { run } from '../../schemas/support/run.ts';
import { freshDatabase } from '../../support/database.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import {
  batchOf,
  EVENING,
  event,
  key,
  logOf,
  marker,
  PROGRAM,
  rawSignature,
  routed,
  transaction,
} from './support/records.ts';

let store: Store;
let offsets: Record<string, bigint>;
beforeEach(async () => {
  store = await embeddedDatabase('several');
  offsets = {};
});
afterEach(() => store.close());

async function apply(
  topic: 'accounts' | 'transactions',
  records: LogRecord[],
  partition = 0,
): Promise<DeadLetterRecord[]> {
  const letters: DeadLetterRecord[] = [];
  const place = `${topic}/${partition}`;
  const first = offsets[place] ?? 0n;
  const materialise = createMaterialiser({
    store,
    programId: PROGRAM,
    onDeadLetter: (letter) => letters.push(letter),
  });
  await materialise(batchOf(topic, logOf(records, first), { partition }));
  offsets[place] = first + BigInt(records.length);
  return letters;
}

const signatureOf = (name: string): string => encodeBase58(rawSignature(name));
const eventsOf = (name: string) =>
  store.query(
    'SELECT kind, position, tx_index, has_index FROM events FINAL WHERE signature = {signature:String} ORDER BY position',
    { signature: signatureOf(name) },
  );

describe('a transaction', () => {
  test('with an event of an unknown discriminator keeps its other events at their positions', async () => {
    const unknown = Uint8Array.from([9, 9, 9, 9, 9, 9, 9, 9, 1]);
    const letters = await apply('transactions', [transaction('t', 5n, [routed(1n), unknown, routed(2n)])]);
    expect(letters).toMatchObject([
      { what: 'event', where: signatureOf('t'), slot: 5n, bytes: Buffer.from(unknown) },
    ]);
    expect(await eventsOf('t')).toMatchObject([{ position: 0 }, { position: 2 }]);
    expect(await unresolvedTransactions(store)).toEqual([]);
  });

  test('with a known event that does not decode counts nothing until it is read whole', async () => {
    const cut = routed(2n).subarray(0, 110);
    const letters = await apply('transactions', [transaction('t', 5n, [routed(1n), cut])]);
    expect(letters).toMatchObject([{ what: 'transaction', where: signatureOf('t') }]);
    expect(await eventsOf('t')).toEqual([]);
    expect(await unresolvedTransactions(store)).toMatchObject([{ signature: signatureOf('t'), slot: 5n }]);

    await apply('transactions', [transaction('t', 5n, [routed(1n), routed(2n)], { source: 'rpc' })]);
    expect(await eventsOf('t')).toHaveLength(2);
    expect(await unresolvedTransactions(store)).toEqual([]);
  });

  test('that failed is stored as failed, without events', async () => {
    const payload = toGeyser(run([ours({ emit: routed(1n) })], true), false);
    await apply('transactions', [transaction('t', 5n, [], { payload })]);
    expect(await eventsOf('t')).toEqual([]);
    expect(await store.query('SELECT failed FROM transactions FINAL')).toEqual([{ failed: 1 }]);
    expect(await store.query('SELECT * FROM policy_transactions')).toEqual([]);
  });

  test('that cannot be read is reported missing for the accounts that it names, until it is read whole', async () => {
    const { meta: _, ...bare } = SubscribeUpdateTransactionInfo.decode(
      transaction('t', 5n, [routed(1n)]).payload,
    );
    const payload = SubscribeUpdateTransactionInfo.encode(
      SubscribeUpdateTransactionInfo.fromPartial(bare),
    ).finish();
    await apply('transactions', [transaction('t', 5n, [], { payload })]);
    expect(await incompleteState(store)).toMatchObject({
      count: 1,
      policies: expect.arrayContaining([
        [encodeBase58(PROGRAM), 'unreadable', String(EVENING), String(EVENING)],
      ]),
      days: [[expect.any(String), 'unreadable']],
    });
    await apply('transactions', [transaction('t', 5n, [routed(1n)], { source: 'rpc' })]);
    expect(await incompleteState(store)).toMatchObject({ count: 0, policies: [], days: [] });
  });

  test('whose bytes do not decode becomes a dead letter, and the others of its batch count', async () => {
    const payload = Uint8Array.from([255, 255, 255]);
    const letters = await apply('transactions', [
      transaction('bad', 5n, [], { payload }),
      transaction('worse', 5n, [], { format: 'json', payload: Buffer.from('{"a":') }),
      transaction('good', 5n, [routed(1n)]),
    ]);
    expect(letters.map(({ what, where }) => [what, where])).toEqual([
      ['transaction', signatureOf('bad')],
      ['transaction', signatureOf('worse')],
    ]);
    expect(await eventsOf('good')).toHaveLength(1);
  });

  test('is decoded in turns with many others of its batch, so that a group member can send heartbeats', async () => {
    const records = Array.from({ length: 200 }, (_, at) => transaction(`t${at}`, 5n, [routed(1n)]));
    let turns = 0;
    let isRead = false;
    const reading = settledFacts(store, records, PROGRAM, { partition: 0, told: [] }).finally(() => {
      isRead = true;
    });
    for (; !isRead; turns += 1) await breathe();
    expect((await reading).events).toHaveLength(200);
    expect(turns).toBeGreaterThan(5);
  });

  test('with much data takes a decoding turn of its own', async () => {
    const payload = new Uint8Array(200_000);
    const records = Array.from({ length: 10 }, (_, at) => transaction(`t${at}`, 5n, [], { payload }));
    let turns = 0;
    let isRead = false;
    const reading = factsYielding(records, PROGRAM, 0).finally(() => {
      isRead = true;
    });
    for (; !isRead; turns += 1) await breathe();
    expect((await reading).transactions).toHaveLength(0);
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  test('with much data is decoded in turn with those of other partitions, one of each at a time', async () => {
    const payload = new Uint8Array(200_000);
    const read: string[] = [];
    const ofPartition = (partition: number) => {
      const records = Array.from({ length: 4 }, (_, at) => ({
        ...transaction(`t${at}`, 5n, []),
        get payload() {
          read.push(`${partition}/${at}`);
          return payload;
        },
      }));
      return factsYielding(records, PROGRAM, partition);
    };
    await Promise.all([0, 1, 2].map(ofPartition));
    expect([...new Set(read)]).toEqual([0, 1, 2, 3].flatMap((at) => [0, 1, 2].map((of) => `${of}/${at}`)));
  });

  test('read with its index in the block replaces a reading without, and not the other way round', async () => {
    const without = transaction('t', 5n, [routed(1n)], { index: null, order: 40, source: 'rpc' });
    await apply('transactions', [without]);
    expect(await eventsOf('t')).toMatchObject([{ tx_index: 40, has_index: 0 }]);
    // ClickHouse refuses a negative index, so the batch would be retried for ever.
    await apply('transactions', [transaction('none', 5n, [routed(1n)], { index: -1, order: 41 })]);
    expect(await eventsOf('none')).toMatchObject([{ tx_index: 41, has_index: 0 }]);
    await apply('transactions', [transaction('t', 5n, [routed(1n)], { index: 3 })]);
    await apply('transactions', [without]);
    expect(await eventsOf('t')).toMatchObject([{ tx_index: 3, has_index: 1 }]);
  });

  test('of a slot without a time is dated between its neighbours, until a reading brings the time', async () => {
    const evening = { blockTime: EVENING };
    await apply('transactions', [
      transaction('before', 5n, [routed(1n)], evening),
      transaction('t', 600n, [routed(2n)], { blockTime: null }),
      transaction('after', 1200n, [routed(3n)], { blockTime: EVENING + 500 }),
    ]);
    expect(await undatedEvents(store)).toMatchObject([
      { slot: '600', kind: 'Routed', earliest: String(EVENING), latest: String(EVENING + 500) },
    ]);
    await apply('transactions', [transaction('t', 600n, [routed(2n)], evening)]);
    expect(await undatedEvents(store)).toEqual([]);
  });

  test('of a slot without a time is dated between its neighbours, however many such slots there are', async () => {
    const server = await freshDatabase();
    try {
      const materialise = createMaterialiser({ store: server, programId: PROGRAM });
      const known = [
        transaction('before', 5n, [routed(1n)]),
        transaction('after', 999_999_999n, [routed(1n)]),
      ];
      await materialise(batchOf('transactions', logOf(known)));
      await server.command(
        `INSERT INTO events_by_slot (slot, signature, position, kind)
         SELECT (1000000 + number) * 512, toString(number), 0, 'Routed' FROM numbers(16000)`,
      );
      await server.command(
        'INSERT INTO undated_events SELECT slot, signature, position FROM events_by_slot WHERE block_time IS NULL',
      );
      const events = await undatedEvents(server);
      expect(events).toHaveLength(16_000);
      const bounds = new Set(events.map(({ earliest, latest }) => `${earliest} ${latest}`));
      expect([...bounds]).toEqual([`${EVENING} ${EVENING}`]);
    } finally {
      await server.close();
    }
  });

  test('is listed once for a policy that several of its events name', async () => {
    await apply('transactions', [transaction('t', 5n, [routed(1n), event('CreditNoted', { amount: 4n })])]);
    expect(await eventsOf('t')).toMatchObject([{ kind: 'Routed' }, { kind: 'CreditNoted' }]);
    const policies = await store.query<{ policy: string }>('SELECT policy FROM policy_transactions FINAL');
    expect(policies.filter(({ policy }) => policy === key('policy of mint'))).toHaveLength(1);
  });
});

test('an event of every kind is stored with its policy, mint and quote asset', async () => {
  const drawn = [...EVENTS.values()].map((kind, at) => {
    const [fields] = fc.sample(anyStruct(kind), { seed: SEED + at, numRuns: 1 }) as [Record<string, unknown>];
    return { kind, fields };
  });
  const transactions = drawn.map(({ kind, fields }) => transaction(kind, 5n, [event(kind, fields)]));
  await apply('transactions', transactions);
  const stored = await store.query<{ kind: string }>(
    'SELECT kind, policy, mint, quote_mint FROM events FINAL',
  );
  const told = drawn.map(({ kind, fields: { policy = '', mint = '', quoteMint: quote_mint = '' } }) => ({
    ...{ kind, policy, mint, quote_mint },
  }));
  const byKind = (one: { kind: string }, other: { kind: string }) => (one.kind < other.kind ? -1 : 1);
  expect(stored.sort(byKind)).toEqual(told.sort(byKind));
});

describe('the place in the log', () => {
  test('is the last offset with the last marker and the newest signature', async () => {
    await apply('transactions', [
      transaction('a', 4n, [routed(1n)]),
      transaction('b', 5n, [routed(1n)]),
      marker(5n),
    ]);
    await apply('transactions', [transaction('late', 4n, [routed(1n)])]);
    expect(await store.query('SELECT log_offset, slot, last_signature FROM applied FINAL')).toEqual([
      { log_offset: '3', slot: '5', last_signature: signatureOf('b') },
    ]);
    expect(await startOffsets(store)).toEqual({ transactions: 4n });
  });

  test('does not go back when the log is read again from the start', async () => {
    await apply('transactions', [marker(5n), marker(6n)]);
    offsets = {};
    await apply('transactions', [marker(5n)]);
    expect(await store.query('SELECT log_offset, slot FROM applied FINAL')).toEqual([
      { log_offset: '1', slot: '6' },
    ]);
  });

  test('of the index is the lowest of all partitions, and null before every partition has a marker', async () => {
    expect(await lowestMarker(store, 4)).toBeNull();
    await apply('accounts', [marker(9n)], 0);
    await apply('accounts', [marker(8n)], 1);
    await apply('transactions', [marker(7n)], 0);
    expect(await lowestMarker(store, 4)).toBeNull();
    await apply('transactions', [marker(11n)], 1);
    expect(await lowestMarker(store, 4)).toBe(7n);
  });
});

describe('a gap', () => {
  const gap = (change: Partial<GapRecord> = {}): GapRecord => ({
    kind: 'gap',
    fromSlot: 0n,
    toSlot: 99n,
    toTime: 1_000,
    closed: false,
    ...change,
  });

  test('is open until every partition has closed it, up to the slot of the one farthest behind', async () => {
    for (const partition of [0, 1]) await apply('transactions', [gap()], partition);
    await apply('transactions', [gap({ toSlot: 50n, toTime: 500 })], 0);
    expect(await openGaps(store)).toEqual([{ fromSlot: 0n, toSlot: 99n, toTime: 1_000, before: null }]);
    await apply('transactions', [gap({ toSlot: 20n, toTime: 200 })], 1);
    expect(await openGaps(store)).toEqual([{ fromSlot: 0n, toSlot: 50n, toTime: 500, before: null }]);
    await apply('transactions', [gap({ toSlot: 0n, closed: true })], 0);
    expect(await openGaps(store)).toHaveLength(1);
    await apply('transactions', [gap({ toSlot: 0n, closed: true })], 1);
    expect(await openGaps(store)).toEqual([]);
  });

  test('of one slot names the transaction that could not be read, a longer one does not', async () => {
    const unread = { before: 'B', obstacle: { type: 'unread', signature: 'S' } } as const;
    for (const partition of [0, 1]) await apply('transactions', [gap({ toSlot: 0n, ...unread })], partition);
    expect(await openGaps(store)).toMatchObject([{ fromSlot: 0n, toSlot: 0n, before: 'B', signature: 'S' }]);
    await apply('transactions', [gap({ toSlot: 99n, before: 'B' })], 0);
    expect(await openGaps(store)).toEqual([{ fromSlot: 0n, toSlot: 99n, toTime: 1_000, before: 'B' }]);
  });

  test('of one slot that a backfill closed on one partition alone stays open, with its unread transaction', async () => {
    const named = { obstacle: { type: 'unread', signature: 'S' } } as const;
    const left = { fromSlot: 0n, toSlot: 0n, toTime: 1_000, before: 'B', signature: 'S' };
    for (const partition of [0, 1])
      await apply('transactions', [gap({ toSlot: 0n, before: 'B', ...named })], partition);
    await apply('transactions', [gap({ toSlot: 500n, toTime: null, closed: true, ...named })], 0);
    expect(await openGaps(store)).toEqual([left]);
    const again = gap({ toSlot: 600n, toTime: null, closed: true, ...named });
    for (const partition of [0, 1]) await apply('transactions', [again], partition);
    expect(await openGaps(store)).toEqual([]);
  });

  test('counts as read up to the lowest slot that its partitions name, once all have closed it', async () => {
    for (const partition of [0, 1]) await apply('transactions', [gap()], partition);
    const closed = (toSlot: bigint) => [gap({ toSlot, toTime: null, closed: true })];
    await apply('transactions', closed(600n), 0);
    expect(await closedUpTo(store, [0n])).toEqual(new Map());
    await apply('transactions', closed(500n), 1);
    expect(await closedUpTo(store, [0n, 7n])).toEqual(new Map([[0n, 500n]]));
    expect(await closedUpTo(store, [7n])).toEqual(new Map());
    await apply('transactions', [gap({ toSlot: 900n })], 1);
    expect(await closedUpTo(store, [0n])).toEqual(new Map());
  });

  test('is opened before the facts of its batch are written, and closed after them', async () => {
    const written: string[] = [];
    const watched: Store = {
      ...store,
      insert: async (table, rows) => {
        const closed = (rows as { closed?: number }[]).map((row) => row.closed ?? '');
        written.push(`${table}${closed.join('')}`);
        await store.insert(table, rows);
      },
    };
    const apply = createMaterialiser({ store: watched, programId: PROGRAM });
    const records = [
      gap(),
      transaction('a', 100n, [routed(1n)]),
      gap({ toSlot: 0n, closed: true }),
      marker(100n),
    ];
    await apply(batchOf('transactions', logOf(records)));
    expect(written.filter((table) => /gaps|events|applied/.test(table))).toEqual([
      'gaps0',
      'events',
      'gaps1',
      'applied',
    ]);
  });
});
