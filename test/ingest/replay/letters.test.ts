import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { openLetters } from '../../../clickhouse/queries/progress/dead-letters.ts';
import { unresolvedTransactions } from '../../../clickhouse/queries/progress/stream-store.ts';
import { deadLetterCount } from '../../../clickhouse/queries/status/status-counts.ts';
import { entryOf } from '../../../ingest/log/kafka/reader.ts';
import type { LogBatch } from '../../../ingest/log/port.ts';
import { encodeRecord } from '../../../ingest/log/record-codec.ts';
import { letterMetrics } from '../../../ingest/materialise/letters/metrics.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { awaited } from '../../support/awaited.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { policyBytes } from '../materialise/support/accounts.ts';
import {
  account,
  EVENING,
  marker,
  PROGRAM,
  rawKey,
  routed,
  transaction,
} from '../materialise/support/records.ts';
import { readTables } from '../materialise/support/tables.ts';
import { type Broker, openBroker, openStage, type Stage } from './support/stage.ts';

const missing = brokerMissing();

const POLICY = account('policy', PROGRAM, policyBytes(), { expected: 'program' });
const TRADE = transaction('trade', 5n, [routed(70n)]);
/** Records that no decoder can read. */
const CUT_POLICY = account('cut', PROGRAM, policyBytes().slice(0, 300), { expected: 'program' });
const HUGE = transaction('huge', 6n, [routed(1n)], { payload: new Uint8Array(1_000_000) });
const REPLY: LogRecord = {
  ...{ kind: 'dead-letter', source: 'poll', what: 'reading:perp', where: 'x', reason: 'no JSON', slot: null },
  bytes: Buffer.from('<html>'),
};
const LOG: LogRecord[] = [
  { kind: 'gap', fromSlot: 0n, toSlot: 4n, toTime: null, closed: false },
  ...[POLICY, TRADE, CUT_POLICY, HUGE, transaction('other', 7n, [routed(5n)]), marker(8n), REPLY],
  { kind: 'gap', fromSlot: 0n, toSlot: 0n, toTime: null, closed: true },
];

/** A decoder that can read neither this policy nor this transaction yet. */
function older(batch: LogBatch): LogBatch {
  const spoilt = (record: LogRecord): LogRecord => {
    if (record.kind === 'account' && Buffer.compare(record.address, rawKey('policy')) === 0)
      return { ...record, data: record.data.slice(0, 100) };
    const isTrade = record.kind === 'transaction' && Buffer.compare(record.signature, TRADE.signature) === 0;
    return isTrade ? { ...record, payload: new Uint8Array([1, 2, 3]) } : record;
  };
  return {
    ...batch,
    entries: batch.entries.map((entry) => ({ ...entry, record: spoilt(entry.record) })),
  };
}

test('the metric of dead letters has a value only while the database answers', async () => {
  const registry = new Registry();
  let count: (() => Promise<unknown[]>) | null = null;
  letterMetrics(registry, () => (count === null ? null : ({ query: count } as unknown as Store)));
  const samples = async () => (await registry.metrics()).match(/^dead_letters .*$/gm);
  expect(await samples()).toBeNull();
  count = async () => [{ count: '5' }];
  expect(await samples()).toEqual(['dead_letters 5']);
  count = async () => Promise.reject(new Error('away'));
  expect(await samples()).toBeNull();
});

describe.skipIf(missing !== null)(`dead letters${missing === null ? '' : ` (${missing})`}`, () => {
  let broker: Broker;
  let stage: Stage;
  let home: Store;

  beforeAll(async () => {
    broker = await openBroker();
  });
  afterAll(() => broker.stop());
  beforeEach(async () => {
    stage = await openStage(broker.client, PROGRAM);
    home = stage.databases.home;
    await stage.log.append(LOG);
    const live = stage.live(older);
    await awaited(async () => expect(await deadLetterCount(home)).toBe('5'), 100);
    await stage.applied(home);
    await live.stop();
  });
  afterEach(() => stage.close());

  /** Tables that a correct decoder makes of the log. */
  async function rightTables() {
    const { materialised, close } = await rightStage();
    const tables = await readTables(materialised);
    await close();
    return tables;
  }

  async function rightStage() {
    const right = await openStage(broker.client, PROGRAM);
    await right.log.append(LOG);
    right.live();
    await right.applied(right.databases.home);
    return { materialised: right.databases.home, close: right.close };
  }

  test('that decode now are applied and no longer count; the rest stays and is reported', async () => {
    stage.live();
    const run = stage.replay({ 'dead-letters': true });
    await run.done;
    // The process that recomputes sums may take long, so waiting messages are ignored.
    expect(run.said.filter((sentence) => !sentence.startsWith('waiting for'))).toEqual([
      '5 dead letters: 2 decode now and are resolved',
      expect.stringMatching(/^\d stay: (a venue|still)/),
      expect.stringMatching(/^\d stay/),
    ]);
    expect(await deadLetterCount(home)).toBe('3');
    expect((await openLetters(home)).map(({ what }) => what).toSorted()).toEqual([
      'account:Policy',
      'reading:perp',
      'transaction',
    ]);
    // A transaction that can be read now is no longer missing.
    expect(await unresolvedTransactions(home)).toMatchObject([{ slot: 6n }]);
    const { deadLetters: _, incomplete, ...figures } = await readTables(home);
    const { deadLetters: __, incomplete: stillMissing, ...right } = await rightTables();
    expect(incomplete).toEqual(expect.arrayContaining(stillMissing ?? []));
    expect(figures).toEqual(right);
    expect(figures.policies).toHaveLength(1);
  });

  /** Batches as read by an older version, which does not know these kinds of records. */
  function ofBefore(kinds: readonly LogRecord['kind'][]) {
    return (batch: LogBatch): LogBatch => ({
      ...batch,
      entries: batch.entries.map((entry) => {
        if (!kinds.includes(entry.record.kind)) return entry;
        const value = encodeRecord(entry.record);
        value[1] = 255;
        return { ...entry, record: entryOf(batch.topic, batch.partition, entry.offset, value).record };
      }),
    });
  }

  test('of kinds that an older version did not know are applied, but for one that depends on its place', async () => {
    const address = rawKey('undated');
    const told: LogRecord[] = [
      account('undated', PROGRAM, policyBytes(), { expected: 'program', blockTime: null }),
      { kind: 'time', address, slot: 10n, blockTime: EVENING },
      { kind: 'carried', address, slot: 11n, blockTime: EVENING, carried: false },
      { kind: 'unseen', address, slot: 12n },
      { kind: 'profit', signature: TRADE.signature, policy: 'policy', profit: 1n },
    ];
    const live = stage.live(ofBefore(['time', 'carried', 'unseen', 'profit']));
    await stage.log.append(told);
    await stage.applied(home);
    await live.stop();
    const written = async () => ({
      times: await home.query('SELECT block_time FROM policies FINAL WHERE address = {address:String}', {
        address: encodeBase58(address),
      }),
      carried: await home.query('SELECT slot, carried FROM carried_accounts FINAL'),
      unseen: await home.query('SELECT after_slot, to_slot FROM unseen_changes FINAL WHERE to_slot = 13'),
    });
    expect(await written()).toEqual({ times: [{ block_time: null }], carried: [], unseen: [] });
    expect(await deadLetterCount(home)).toBe('9');
    stage.live();
    const run = stage.replay({ 'dead-letters': true });
    await run.done;
    expect(run.said).toContain('9 dead letters: 5 decode now and are resolved');
    expect(run.said).toContainEqual(
      expect.stringMatching(/^1 stay: decodes now, but its meaning depends on its position in the log/),
    );
    expect(await written()).toEqual({
      times: [{ block_time: String(EVENING) }],
      carried: [{ slot: '11', carried: 0 }],
      unseen: [{ after_slot: '11', to_slot: '13' }],
    });
    expect(await deadLetterCount(home)).toBe('4');
  });

  test('a replay that begins between the parts of a record reads that record too', async () => {
    const [huge] = (await openLetters(home)).filter(({ at }) => at.includes(encodeBase58(HUGE.signature)));
    stage.live(older);
    await home.command('TRUNCATE TABLE incomplete_by_slot');
    await stage.replay({ from: String(huge?.log_offset) }).done;
    expect(await unresolvedTransactions(home)).toContainEqual(expect.objectContaining({ slot: 6n }));
  });

  test('count again when they are found again later', async () => {
    stage.live();
    await stage.replay({ 'dead-letters': true }).done;
    await home.command(
      'INSERT INTO dead_letters SELECT * REPLACE (read_at + 1 AS read_at) FROM dead_letters FINAL',
    );
    expect(await deadLetterCount(home)).toBe('5');
  });

  /** Appends a good reading of the venue. */
  async function readWell(): Promise<void> {
    const readAt = Date.now() + 2_000;
    const reading = {
      ...({ type: 'venue_account', venueAccount: 'x', venue: 'perp', equity: '1', notional: '0' } as const),
      ...{ reason: null, reachable: true, venueTime: null, error: null },
    };
    const live = stage.live(older);
    await stage.log.append([{ kind: 'reading', readAt, reading }]);
    await stage.applied(home);
    await live.stop();
  }

  test('about a venue’s reply are resolved once a later reply was read well', async () => {
    const reading = {
      type: 'venue_account',
      venueAccount: 'x',
      venue: 'perp',
      equity: '1',
      notional: '0',
    } as const;
    const good = { ...reading, reason: null, reachable: true, venueTime: null };
    stage.live();
    const readings = [
      { kind: 'reading', readAt: 1, reading: { ...good, error: null } },
      { kind: 'reading', readAt: Date.now() + 1_000, reading: { ...good, error: 'no JSON' } },
    ] as const;
    await stage.log.append(readings);
    await stage.applied(home);
    const still = stage.replay({ 'dead-letters': true });
    await still.done;
    expect(still.said).toContain('1 stay: a venue’s reply, which was not read well since');
    await stage.log.append([
      { kind: 'reading', readAt: Date.now() + 2_000, reading: { ...good, error: null } },
    ]);
    await stage.applied(home);
    await stage.replay({ 'dead-letters': true }).done;
    expect((await openLetters(home)).map(({ what }) => what).toSorted()).toEqual([
      'account:Policy',
      'transaction',
    ]);
  });

  test('about a venue’s reply stay resolved in the database that a full replay fills', async () => {
    await readWell();
    stage.live();
    await stage.replay({ 'dead-letters': true }).done;
    const open = async (store: Store) => (await openLetters(store)).map(({ what }) => what);
    expect(await open(home)).not.toContain('reading:perp');
    // The same letter again: it is open, and rightly so.
    const again: LogRecord = { ...REPLY, where: 'again' } as LogRecord;
    await stage.log.append([again]);
    await stage.applied(home);
    await stage.replay().done;
    const store = await stage.databases.open(`${home.database}_r1`);
    expect((await open(store)).filter((what) => what === 'reading:perp')).toHaveLength(1);
    const times = (of: Store) =>
      of.query("SELECT id, read_at FROM dead_letters FINAL WHERE source = 'poll' ORDER BY id");
    expect(await times(home)).toHaveLength(2);
    expect(await times(store)).toEqual(await times(home));
  });

  test('are counted by the Prometheus metric as long as they are unresolved', async () => {
    const registry = new Registry();
    letterMetrics(registry, () => home);
    expect(await registry.metrics()).toContain('dead_letters 5');
    stage.live();
    await stage.replay({ 'dead-letters': true }).done;
    expect(await registry.metrics()).toContain('dead_letters 3');
  });

  test('of an older decoder are not in the database that a full replay fills', async () => {
    stage.live();
    await stage.replay().done;
    const store = await stage.databases.open(`${home.database}_r1`);
    const right = await rightTables();
    expect(await readTables(store)).toEqual(right);
    expect(await deadLetterCount(store)).toBe('3');
  });
});
