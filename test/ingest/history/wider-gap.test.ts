import { expect, test } from 'vitest';
import type { Gap } from '../../../ingest/history/gap.ts';
import { createGapCloser } from '../../../ingest/history/gap-closer.ts';
import { SETTLED_AFTER } from '../../../ingest/history/prove-top.ts';
import { type GapPlace, gapAfter } from '../../../ingest/materialise/gap-rows.ts';
import { resumeUnfinished } from '../../../ingest/stream/resume-unfinished.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { awaited } from '../../support/awaited.ts';
import { key } from '../materialise/support/records.ts';
import { nothingStored } from '../support/nothing-stored.ts';

const FROM = 101n;
const logger = createLogger('silent', 'test');
const gapTo = (toSlot: bigint): Gap => ({ fromSlot: FROM, toSlot, toTime: null });

/** A gap closer on a chain without transactions of the program, what it does in words, and the stored state. */
function closing() {
  const done: string[] = [];
  const stored: { place?: GapPlace } = {};
  let gate = Promise.resolve();
  let isAsked = false;
  const append = async (records: readonly LogRecord[]) => {
    for (const record of records) {
      if (record.kind !== 'gap') continue;
      done.push(`${record.closed ? 'closed' : 'open'} to ${record.toSlot}`);
      stored.place = gapAfter(stored.place, record);
    }
  };
  const rpc: Partial<Rpc> = {
    getSlot: async () => 9_000n,
    getFirstAvailableBlock: async () => 0n,
    getSignaturesForAddress: async (_address, _before, _limit, read) => {
      isAsked = true;
      await gate;
      const words = `read to ${(read?.minContextSlot ?? 0n) - SETTLED_AFTER}`;
      // The top is listed twice.
      if (done.at(-1) !== words) done.push(words);
      return [];
    },
  };
  const gaps = createGapCloser({
    rpc: rpc as Rpc,
    log: { append, close: async () => {} },
    programId: key('program'),
    logger,
    signal: new AbortController().signal,
    reached: () => 8_000n,
  });
  const open = (toSlot: bigint) =>
    gaps.add(gapTo(toSlot), () => append([{ kind: 'gap', ...gapTo(toSlot), closed: false }]));
  /** Has the node answer nothing until the returned function is called. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  const idle = async () => {
    // A gap is taken up once the log has it as open.
    await new Promise((resolve) => setImmediate(resolve));
    await gaps.idle();
  };
  /** Has the stream look once at the store's open gaps, with its applied marker. */
  const look = async (applied: bigint) => {
    const stop = new AbortController();
    const { fromSlot } = gapTo(0n);
    await resumeUnfinished({
      store: {
        ...nothingStored,
        applied: async () => applied,
        openGaps: async () => (stored.place?.closed === false ? [{ fromSlot, ...stored.place }] : []),
        incompleteTransactions: async () => {
          stop.abort();
          return [];
        },
      },
      ...{ gaps, position: null, startSlot: 0n, logger, signal: stop.signal },
      ...{
        openGap: () => {},
        reread: { add: () => {}, addKnown: () => {} },
        following: {} as never,
        followed: {} as never,
      },
    });
    await idle();
  };
  const asked = () => awaited(() => expect(isAsked).toBe(true));
  return { gaps, done, stored, append, open, hold, look, asked, idle };
}

const NARROW = ['open to 101', 'read to 101', 'closed to 101'];
/** A closing names the first slot. */
const WIDE = ['open to 4000', 'read to 4000', 'closed to 101'];

test('a wider gap is read even if one with the same first slot was closed before', async () => {
  const { done, stored, open, idle } = closing();
  open(FROM);
  await idle();
  open(4_000n);
  expect(stored.place).toMatchObject({ toSlot: 4_000n, closed: false });
  await idle();
  expect(done).toEqual([...NARROW, ...WIDE]);
  expect(stored.place?.closed).toBe(true);
});

test('an open gap gives way to a wider one with the same first slot, and only the wider one is closed', async () => {
  const { done, open, hold, asked, idle } = closing();
  const go = hold();
  open(FROM);
  await asked();
  open(4_000n);
  go();
  await idle();
  expect(done.filter((words) => words !== 'read to 101')).toEqual(['open to 101', ...WIDE]);
});

test('a gap is not read if a wider one comes before the log has it', async () => {
  const { done, open, idle } = closing();
  open(FROM);
  open(4_000n);
  await idle();
  expect(done).toEqual(['open to 101', ...WIDE]);
});

test('a gap within slots already read is neither logged nor read; a wider one in the store is read', async () => {
  const { gaps, done, open, idle } = closing();
  open(4_000n);
  await idle();
  open(FROM);
  open(4_000n);
  gaps.add(gapTo(200n));
  await idle();
  expect(done).toEqual(WIDE);
  gaps.add(gapTo(5_000n));
  await idle();
  expect(done).toEqual([...WIDE, 'read to 5000', 'closed to 101']);
});

test('an open gap is not widened by the store alone: the process that widened it reads the rest', async () => {
  const { gaps, done, open, hold, asked, idle } = closing();
  const go = hold();
  open(FROM);
  await asked();
  gaps.add(gapTo(4_000n));
  go();
  await idle();
  expect(done).toEqual(NARROW);
});

test('a gap closed here and reopened by another process is read once the store has applied the closing', async () => {
  const { done, stored, append, open, look, idle } = closing();
  open(4_000n);
  await idle();
  await append([
    {
      ...{ kind: 'gap', ...gapTo(FROM), closed: false },
      obstacle: { type: 'unread', signature: 'of a backfill' },
    },
  ]);
  const told = [...WIDE, 'open to 101'];
  expect(done).toEqual(told);
  // A store at this marker may lack the closing.
  await look(8_000n);
  expect(done).toEqual(told);
  await look(8_001n);
  expect(done).toEqual([...told, 'read to 101', 'closed to 101']);
  expect(stored.place?.closed).toBe(true);
  await look(8_001n);
  expect(done).toHaveLength(told.length + 2);
});
