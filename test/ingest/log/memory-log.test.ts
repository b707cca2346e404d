import { expect, test } from 'vitest';
import { createMemoryLog } from '../../../ingest/log/in-process.ts';
import { OffsetGapError } from '../../../ingest/log/offset-gap.ts';
import type { LogBatch } from '../../../ingest/log/port.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { awaited } from '../../support/awaited.ts';

const account = (slot: bigint, size = 10): AccountRecord => ({
  kind: 'account',
  source: 'stream',
  slot,
  blockTime: null,
  address: new Uint8Array(32),
  owner: new Uint8Array(32),
  lamports: 1n,
  data: new Uint8Array(size),
  writeVersion: slot,
  signature: null,
  expected: null,
});
const marker = (slot: bigint): LogRecord => ({ kind: 'marker', slot, parent: slot - 1n, blockTime: null });

/** Reads a log until `enough`, and returns the batches. */
async function read(
  log: ReturnType<typeof createMemoryLog>,
  enough: (batches: LogBatch[]) => boolean,
  apply: (batch: LogBatch) => Promise<void> = async () => {},
): Promise<LogBatch[]> {
  const batches: LogBatch[] = [];
  const stop = new AbortController();
  const running = log.run(async (batch) => {
    await apply(batch);
    batches.push(batch);
  }, stop.signal);
  await awaited(() => expect(enough(batches)).toBe(true));
  stop.abort();
  await running;
  return batches;
}

const count = (batches: readonly LogBatch[]) => batches.reduce((sum, { entries }) => sum + entries.length, 0);

test('offsets continue from the stored ones, and a marker goes to both accounts and transactions', async () => {
  const log = createMemoryLog({ startOffsets: { accounts: 7n } });
  await log.append([account(1n), marker(1n)]);
  const batches = await read(log, (all) => count(all) === 3);
  const accounts = batches.filter(({ topic }) => topic === 'accounts').flatMap(({ entries }) => entries);
  expect(accounts.map(({ offset, record }) => [offset, record.kind])).toEqual([
    [7n, 'account'],
    [8n, 'marker'],
  ]);
  const transactions = batches
    .filter(({ topic }) => topic === 'transactions')
    .flatMap(({ entries }) => entries);
  expect(transactions.map(({ offset }) => offset)).toEqual([0n]);
});

test('a batch ends after the last marker within the limit, or at the limit if there is none', async () => {
  const log = createMemoryLog({ startOffsets: {}, maxBatch: 4 });
  await log.append([
    account(1n),
    account(1n),
    marker(1n),
    account(2n),
    account(2n),
    account(2n),
    account(2n),
    account(2n),
  ]);
  const batches = await read(log, (all) => count(all.filter(({ topic }) => topic === 'accounts')) === 8);
  const sizes = batches.filter(({ topic }) => topic === 'accounts').map(({ entries }) => entries.length);
  expect(sizes).toEqual([3, 4, 1]);
});

test('a full log makes the writer wait until there is room again', async () => {
  const log = createMemoryLog({ startOffsets: {}, maxBytes: 1_000 });
  await log.append([account(1n, 2_000)]);
  let appended = false;
  const waiting = log.append([account(2n)]).then(() => {
    appended = true;
  });
  await Promise.resolve();
  expect(appended).toBe(false);
  await read(log, (all) => count(all) === 2);
  await waiting;
  expect(log.waitingBytes()).toBe(0);
});

test('a batch that fails is handed out again, whole', async () => {
  const failures: unknown[] = [];
  const log = createMemoryLog({ startOffsets: {}, onFailure: (error) => failures.push(error) });
  await log.append([account(1n), marker(1n)]);
  let tries = 0;
  const batches = await read(
    log,
    (all) => count(all) === 3,
    async ({ topic }) => {
      if (topic !== 'accounts') return;
      tries += 1;
      if (tries < 3) throw new Error('not now');
    },
  );
  expect(failures).toHaveLength(2);
  expect(batches.find(({ topic }) => topic === 'accounts')?.entries.map(({ offset }) => offset)).toEqual([
    0n,
    1n,
  ]);
});

test('records after a batch are gathered into one batch until a client waits for them', async () => {
  let held = 3_600_000;
  const log = createMemoryLog({ startOffsets: {}, lingerMs: () => held });
  const stop = new AbortController();
  const slots: bigint[][] = [];
  const running = log.run(async ({ topic, entries }) => {
    if (topic === 'accounts') slots.push(entries.map(({ record }) => (record as AccountRecord).slot));
  }, stop.signal);
  await log.append([account(1n), marker(1n)]);
  await awaited(() => expect(slots).toEqual([[1n, 1n]]));
  await log.append([account(2n), marker(2n)]);
  await log.append([account(3n), marker(3n)]);
  held = 0;
  log.handOutNow();
  await awaited(() => expect(slots.slice(1)).toEqual([[2n, 2n, 3n, 3n]]));
  await log.append([marker(4n)]);
  await awaited(() => expect(slots.slice(2)).toEqual([[4n]]));
  stop.abort();
  await running;
});

test('an append with a record that never comes again resolves once it is applied, after failed tries', async () => {
  const log = createMemoryLog({ startOffsets: {} });
  const unseen: LogRecord = { kind: 'unseen', address: new Uint8Array(32), slot: 3n };
  let applied = 0;
  let tries = 0;
  const acknowledged = log.append([account(1n), unseen]).then(() => applied);
  const batches = await read(
    log,
    () => applied > 0,
    async ({ entries }) => {
      tries += 1;
      if (tries < 3) throw new Error('the store is away');
      applied += entries.length;
    },
  );
  expect(count(batches)).toBe(2);
  expect(await acknowledged).toBe(2);
});

test('an append with a record that never comes again resolves when the log ends, or has ended, unread', async () => {
  const log = createMemoryLog({ startOffsets: {} });
  const unseen: LogRecord = { kind: 'unseen', address: new Uint8Array(32), slot: 3n };
  const stop = new AbortController();
  const running = log.run(async () => {
    stop.abort();
    throw new Error('the store is away');
  }, stop.signal);
  await log.append([unseen]);
  await running;
  await log.append([unseen]);
});

test('owned() of a batch stays false for the rest of a try once it was false, and is asked anew in the next', async () => {
  const answers = [true, false, true];
  const log = createMemoryLog({ startOffsets: {}, owned: () => answers.shift() ?? true });
  const told: boolean[] = [];
  let tries = 0;
  await log.append([account(1n)]);
  await read(
    log,
    () => tries === 2,
    async ({ owned }) => {
      tries += 1;
      told.push(owned(), owned(), owned());
      if (tries === 1) throw new Error('taken away');
    },
  );
  expect(told).toEqual([true, false, false, true, true, true]);
});

test('an offset gap in the database ends the log, asks for a restart and resolves waiting appends', async () => {
  const log = createMemoryLog({ startOffsets: {}, maxBytes: 1_000 });
  const unseen: LogRecord = { kind: 'unseen', address: new Uint8Array(32), slot: 3n };
  const waiting = [log.append([account(1n, 2_000), unseen]), log.append([account(2n)])];
  const running = log.run(async () => {
    throw new OffsetGapError('accounts/0', 3n, 5n);
  }, new AbortController().signal);
  await expect(running).rejects.toThrow(/the database lacks rows .* begins at 5.*; restart/);
  await Promise.all(waiting);
});
