import { expect, onTestFinished, test } from 'vitest';
import type { Gap } from '../../../ingest/history/gap.ts';
import { createGapCloser } from '../../../ingest/history/gap-closer.ts';
import { closeGap } from '../../../ingest/history/read-history.ts';
import { type GapPlace, gapAfter } from '../../../ingest/materialise/gap-rows.ts';
import { resumeUnfinished } from '../../../ingest/stream/resume-unfinished.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { NotKeptError } from '../../../runtime/rpc/error.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import type { GapRecord, LogRecord } from '../../../schemas/records.ts';
import { awaited } from '../../support/awaited.ts';
import { key } from '../materialise/support/records.ts';
import { nothingStored } from '../support/nothing-stored.ts';
import { openStreamStage } from '../support/stream-stage.ts';

const logger = createLogger('silent', 'test');

/** A gap closer over a node that cannot close the gap, with the log's records of the gap and the store's state of it. */
function standing(rpc: Partial<Rpc>, fromSlot: bigint, programId = key('program')) {
  const log: GapRecord[] = [];
  /** The gap's state by the applied part of the log. */
  let place: GapPlace | undefined;
  let applied = 0;
  const apply = (upTo = log.length) => {
    for (const record of log.slice(applied, upTo)) place = gapAfter(place, record);
    applied = Math.max(applied, upTo);
  };
  const marker = { reached: 8_000n, applied: -1n };
  let gate = Promise.resolve();
  let isTelling = false;
  const append = async (records: readonly LogRecord[]) => {
    isTelling = true;
    await gate;
    log.push(...records.filter((record) => record.kind === 'gap'));
  };
  const reasons: (string | null)[] = [];
  const open = new Set<bigint>();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const gaps = createGapCloser({
    ...{ rpc: rpc as Rpc, programId, logger, signal: stop.signal },
    log: { append, close: async () => {} },
    reached: () => marker.reached,
    onStalled: (reason) => reasons.push(reason),
    onGap: (gap, isOpen) => (isOpen ? open.add(gap.fromSlot) : open.delete(gap.fromSlot)),
  });
  /** Has the stream look once at the store's state of the gap. */
  const look = async () => {
    const once = new AbortController();
    const isOpen = () => place?.closed === false;
    await resumeUnfinished({
      store: {
        ...nothingStored,
        applied: async () => marker.applied,
        openGaps: async () => (isOpen() ? [{ fromSlot, ...(place as GapPlace) }] : []),
        closedUpTo: async (slots) =>
          new Map(place?.closed && slots.includes(fromSlot) ? [[fromSlot, place.toSlot]] : []),
        incompleteTransactions: async () => {
          once.abort();
          return [];
        },
      },
      ...{ gaps, position: null, startSlot: 0n, logger, signal: once.signal },
      ...{ openGap: () => {}, reread: { add: () => {}, addKnown: () => {} } },
      ...{ following: {} as never, followed: {} as never },
    });
  };
  /** Opens a gap, and waits until its obstacle is reported. */
  const stall = async (gap: Gap, record: GapRecord) => {
    gaps.add(gap, () => append([record]));
    await awaited(() => expect(reasons.at(-1)).toEqual(expect.any(String)));
  };
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  /** Closes it down to a slot, as a backfill does that has read that far. */
  const close = (toSlot: bigint, signature?: string) =>
    log.push({
      ...{ kind: 'gap', fromSlot, toSlot, toTime: null, closed: true },
      ...(signature === undefined ? {} : { obstacle: { type: 'unread', signature } }),
    });
  const stored = () => place;
  const telling = () => awaited(() => expect(isTelling).toBe(true));
  return { telling, gaps, log, reasons, open, marker, apply, stored, look, stall, hold, close };
}

const FROM = 101n;
const TO = 4_000n;
const OPENED: GapRecord = { kind: 'gap', fromSlot: FROM, toSlot: TO, toTime: null, closed: false };

/** A gap of which the node keeps no history; the log has it as open, with the obstacle. */
async function pruned() {
  const asked = { count: 0 };
  const stage = standing(
    {
      getSlot: async () => 9_000n,
      getSignaturesForAddress: async (_address, _before, _limit, read) => {
        asked.count += 1;
        if (read?.keptFrom !== undefined) throw new NotKeptError(500n);
        return [];
      },
    },
    FROM,
  );
  await stage.stall({ fromSlot: FROM, toSlot: TO, toTime: null }, OPENED);
  await awaited(() => expect(stage.log).toHaveLength(2));
  return { ...stage, asked };
}

test('a gap that the store shows closed by a backfill is read no more, and its stall reason is cleared', async () => {
  const { gaps, reasons, open, marker, apply, look, close, asked } = await pruned();
  expect([...open]).toEqual([FROM]);
  close(9_000n);
  apply();
  marker.applied = 8_001n;
  await look();
  expect(reasons.at(-1)).toBe(null);
  expect([...open]).toEqual([]);
  await gaps.idle();
  const before = asked.count;
  await look();
  await gaps.idle();
  expect(asked.count).toBe(before);
});

test('a gap closed by a backfill stays open here until the store has applied what this process logged of it', async () => {
  const { open, marker, apply, look, close } = await pruned();
  close(9_000n);
  apply();
  for (const applied of [-1n, 7_999n, 8_000n]) {
    marker.applied = applied;
    await look();
    expect([...open]).toEqual([FROM]);
  }
});

test('a gap stays open here while the store has no closing of it, or one of a narrower gap', async () => {
  const { open, marker, apply, look, close } = await pruned();
  marker.applied = 8_001n;
  await look();
  expect([...open]).toEqual([FROM]);
  // Closed by a process that knows only a narrower gap.
  close(FROM);
  apply();
  await look();
  expect([...open]).toEqual([FROM]);
});

test('a gap closed by a backfill stays open here while this process is writing a record of it to the log', async () => {
  const { gaps, open, marker, apply, look, close, hold, telling } = standing(
    {
      getSlot: async () => 9_000n,
      getSignaturesForAddress: async () => [],
    },
    FROM,
  );
  close(9_000n);
  apply();
  marker.applied = 8_001n;
  // The process is writing that it has closed the gap itself.
  const go = hold();
  gaps.add({ fromSlot: FROM, toSlot: TO, toTime: null });
  await telling();
  await look();
  expect([...open]).toEqual([FROM]);
  go();
  await gaps.idle();
  expect([...open]).toEqual([]);
});

test('a gap dropped as closed by a backfill is taken up again once the store shows it open', async () => {
  const { gaps, log, open, marker, apply, look, close, stored } = await pruned();
  close(9_000n);
  apply();
  marker.applied = 8_001n;
  await look();
  await gaps.idle();
  log.push({ ...OPENED, toSlot: FROM, obstacle: { type: 'unread', signature: 'of another' } });
  apply();
  expect(stored()?.closed).toBe(false);
  await look();
  expect([...open]).toEqual([FROM]);
});

test('a gap closed by a backfill that read its transaction is not reopened for another unreadable one of the slot', async () => {
  const chain = await openStreamStage({ seed: 'closed-elsewhere', policies: 10 });
  onTestFinished(() => chain.close());
  await chain.live(200);
  for (let made = 0; made < 80; made += 1) await chain.chain.produce([]);
  const node = createRpc(chain.rpc.url, { commitment: 'confirmed' });
  const all = await node.getSignaturesForAddress(chain.chain.programId, null, 1_000);
  const oldest = all.findLast(
    ({ slot, signature }) => all.find((one) => one.slot === slot)?.signature !== signature,
  );
  if (oldest === undefined) throw new Error('no slot has two');
  const { slot, signature } = oldest;
  const newest = all.find((one) => one.slot === slot)?.signature as string;
  const unread = new Set(all.filter((one) => one.slot === slot).map((one) => one.signature));
  const rpc: Rpc = {
    ...node,
    getTransaction: async (one) => (unread.has(one) ? null : node.getTransaction(one)),
  };
  const { gaps, log, reasons, open, marker, apply, stored, look, stall, close } = standing(
    rpc,
    slot,
    chain.chain.programId,
  );
  const opened = { kind: 'gap', fromSlot: slot, toSlot: slot, toTime: null, closed: false } as const;
  await stall(
    { fromSlot: slot, toSlot: slot, toTime: null, signature },
    { ...opened, obstacle: { type: 'unread', signature } },
  );
  expect(reasons.at(-1)).toContain(signature);
  close(slot + 500n, signature);
  apply();
  marker.applied = marker.reached + 1n;
  await look();
  unread.delete(signature);
  await gaps.idle();
  expect(reasons.at(-1)).toBe(null);
  expect([...open]).toEqual([]);
  expect(log.filter((one) => one.obstacle?.type === 'unread' && one.obstacle.signature === newest)).toEqual(
    [],
  );
  apply();
  expect(stored()?.closed).toBe(true);
});

test('a reading that is aborted opens no gap for an unreadable transaction, though it had read others', async () => {
  const chain = await openStreamStage({ seed: 'left alone', policies: 10 });
  onTestFinished(() => chain.close());
  await chain.live(200);
  for (let made = 0; made < 80; made += 1) await chain.chain.produce([]);
  const node = createRpc(chain.rpc.url, { commitment: 'confirmed' });
  const newest = (await node.getSignaturesForAddress(chain.chain.programId, null, 100)).at(-1);
  const told = async (leavesAlone: boolean) => {
    const log: LogRecord[] = [];
    const alone = new AbortController();
    const append = async (records: readonly LogRecord[]) => {
      log.push(...records);
      if (leavesAlone && records.some(({ kind }) => kind === 'transaction')) alone.abort();
    };
    await closeGap(
      { fromSlot: 1n, toSlot: newest?.slot as bigint, toTime: null },
      {
        rpc: {
          ...node,
          getTransaction: async (one) => (one === newest?.signature ? null : node.getTransaction(one)),
        },
        log: { append, close: async () => {} },
        ...{ programId: chain.chain.programId, signal: alone.signal },
      },
    );
    return log.filter(({ kind }) => kind === 'gap');
  };
  expect(await told(true)).toEqual([]);
  expect(await told(false)).toContainEqual(
    expect.objectContaining({ closed: false, obstacle: { type: 'unread', signature: newest?.signature } }),
  );
});
