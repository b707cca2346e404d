import { afterEach, describe, expect, test } from 'vitest';
import { createRandom } from '../../../devnet/program/state/random.ts';
import { createMemoryLog } from '../../../ingest/log/in-process.ts';
import type { GapRecord } from '../../../schemas/records.ts';
import { blocksBehind, ledgerTransactions, wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StageOptions, type StreamStage, until } from '../support/stream-stage.ts';

const SEED = process.env.SEED ?? 'stream-1';
/** Longer than a resting chain, or this process, is silent: else streams would be restarted for ever. */
const SILENCE_MS = 5_000;
const ascending = (a: bigint, b: bigint) => Number(a - b);
let stage: StreamStage;

async function open(options: Partial<StageOptions> = {}): Promise<StreamStage> {
  stage = await openStreamStage({ seed: SEED, policies: 12, ...options });
  return stage;
}

afterEach(() => stage.close());

/** Checks that the log has everything, and every account's newest state is the ledger's. */
async function expectWhole(): Promise<void> {
  const { chain, model } = stage;
  await stage.settled();
  const missing = ledgerTransactions(chain).filter(({ signature }) => !model.transactions.has(signature));
  expect(missing).toEqual([]);
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  // Also for the blocks that were made meanwhile.
  await stage.settled();
}

/** Slots of a topic's markers without those that a restart sent again. */
const firstMarkers = (slots: readonly bigint[]) =>
  slots.filter((slot, at) => slots.slice(0, at).every((before) => before < slot));

describe(`the stream (seed ${SEED})`, () => {
  test('with an empty store opens a gap back to slot 0, reads all accounts, and closes the gap from history', async () => {
    await open();
    await stage.live(120);
    stage.start();
    await stage.liveUntil('it streams', () => stage.model.order.length > 0);
    await expectWhole();
    const { order } = stage.model;
    expect(order[0]).toMatchObject({ kind: 'gap', fromSlot: 0n, closed: false });
    const base = (order[0] as { toSlot: bigint }).toSlot;
    expect(firstMarkers(stage.model.markers.transactions)).toEqual(blocksBehind(stage.chain, base));
  });

  test('follows policies that are created while it runs, and gets the newest state of each of their accounts', async () => {
    await open({ policies: 30 });
    await stage.live(5);
    stage.start();
    await stage.live(250);
    expect(stage.chain.state().policies.size).toBeGreaterThan(15);
    await expectWhole();
  });

  test('writes one marker per slot, in order, and opens no second gap while the connection is dropped six times', async () => {
    await open();
    await stage.live(30);
    const { events } = stage.start();
    const released = () => events.filter(({ type }) => type === 'released').length;
    for (let times = 0; times < 6; times += 1) {
      const before = released();
      await stage.liveUntil('it streams', () => released() > before);
      await stage.live(20);
      stage.geyser.faults.drop();
      await stage.live(5);
    }
    await expectWhole();
    const { accounts, transactions } = stage.model.markers;
    expect(transactions).toEqual(blocksBehind(stage.chain, (transactions[0] as bigint) - 1n));
    expect(accounts).toEqual(transactions);
    expect(stage.model.gaps.size).toBe(1);
  });

  test('loses nothing when updates come twice and out of order', async () => {
    await open();
    const random = createRandom(`scramble:${SEED}`);
    stage.geyser.faults.scramble(random.next);
    stage.start();
    await stage.live(150);
    await expectWhole();
  });

  test('reconnects when the server goes silent, and loses nothing', async () => {
    await open();
    const { events } = stage.start({ silenceMs: SILENCE_MS });
    await stage.live(20);
    await stage.liveUntil('it streams', () => events.some(({ type }) => type === 'released'));
    stage.geyser.faults.stall(true);
    await stage.live(20);
    await until('the silence is noticed', () => events.some(({ type }) => type === 'disconnected'));
    stage.geyser.faults.stall(false);
    await expectWhole();
  });

  test('resumes from the last marker after a restart within the replay, without a gap, and reads every account again', async () => {
    await open();
    const first = stage.start();
    await stage.live(60);
    await stage.settled();
    await first.stop();
    const end = (await stage.model.position())?.slot as bigint;
    const known = [...stage.model.accounts.keys()];
    await stage.live(60);
    stage.start();
    await stage.live(10);
    await expectWhole();
    expect(stage.model.gaps.size).toBe(1);
    // The readings also fill a column that was added meanwhile.
    const isRead = (address: string) => (stage.model.readings.get(address) ?? -1n) >= end;
    await stage.restUntil('every account was read', () => known.every(isRead));
  });

  test('logs a gap before any later transaction where the replay is too short, and keeps streaming live slots', async () => {
    await open({ retentionSlots: 20 });
    const first = stage.start();
    await stage.live(40);
    await stage.settled();
    await first.stop();
    const end = (await stage.model.position())?.slot as bigint;
    const held = stage.model.order.length;
    await stage.live(80);
    stage.rpc.faults.down('busy');
    const { events } = stage.start();
    await until('it streams', () => events.some(({ type }) => type === 'disconnected'));
    await stage.liveUntil('live goes on', () => events.some(({ type }) => type === 'released'));
    expect(stage.model.gaps.get(end + 1n)?.closed).toBe(false);
    const opening = stage.model.order.slice(held).findIndex(({ kind }) => kind === 'gap');
    const gap = stage.model.order[held + opening] as { toSlot: bigint };
    const early = stage.model.order
      .slice(held, held + opening)
      .filter((record) => record.kind === 'transaction' && record.slot > gap.toSlot);
    expect(early).toEqual([]);
    stage.rpc.faults.down(null);
    await expectWhole();
    expect(stage.model.gaps.get(end + 1n)?.closed).toBe(true);
  });

  test('leaves slots that the replay lacks as well to a gap, which history closes', async () => {
    await open({ skipChance: 0 });
    const { events } = stage.start();
    await stage.live(30);
    await stage.settled();
    const tip = stage.chain.tip().slot;
    stage.geyser.faults.hide(new Set([tip + 5n, tip + 6n]));
    await stage.live(60);
    await until('the stream is tried again', () => events.some(({ type }) => type === 'disconnected'));
    await until('the gap is opened', () => stage.model.gaps.has(tip + 5n));
    await expectWhole();
    expect(stage.model.gaps.get(tip + 5n)).toMatchObject({ closed: true });
    expect(stage.model.markers.transactions).toContain(tip + 7n);
  });

  test('reads transactions with cut logs again over RPC and keeps their index in the block from the stream', async () => {
    await open({ cutLogs: { onStream: 0.5 } });
    stage.start();
    await stage.live(80);
    await stage.settled();
    const cut = ledgerTransactions(stage.chain).filter(({ slot, signature }) => {
      const records = stage.model.transactions.get(signature) ?? [];
      const tx = stage.chain.block(slot)?.transactions.find(({ index }) => records[0]?.index === index);
      return records[0]?.source === 'stream' && tx?.streamLogs.includes('Log truncated');
    });
    expect(cut.length).toBeGreaterThan(5);
    const again = (signature: string) =>
      stage.model.transactions.get(signature)?.find(({ source }) => source === 'rpc') ?? null;
    await until('all are read again', () => cut.every(({ signature }) => again(signature) !== null));
    for (const { signature, index } of cut) expect(again(signature)?.index).toBe(index);
  });

  test('widens the first gap up to its first marker and closes it, where an earlier run ended before any marker', async () => {
    await open();
    await stage.live(80);
    const gap = { kind: 'gap', fromSlot: 0n, toSlot: 20n, toTime: null, closed: false } as const;
    stage.model.gaps.set(0n, gap);
    stage.start();
    await stage.liveUntil('it streams', () => stage.model.markers.transactions.length > 0);
    await expectWhole();
    const { order, gaps, markers } = stage.model;
    const widened = order.find(({ kind }) => kind === 'gap') as GapRecord;
    expect(widened).toMatchObject({ fromSlot: 0n, closed: false });
    expect(widened.toSlot).toBeGreaterThan(gap.toSlot);
    expect(firstMarkers(markers.transactions)).toEqual(blocksBehind(stage.chain, widened.toSlot));
    expect([...gaps.values()]).toMatchObject([{ fromSlot: 0n, closed: true }]);
  });

  test('reads the slots before the start slot only once the start slot is lowered', async () => {
    await open();
    await stage.live(80);
    const slots = ledgerTransactions(stage.chain).map(({ slot }) => slot);
    const [first, third] = [slots[0] as bigint, slots[Math.floor(slots.length / 3)] as bigint];
    const lowest = () =>
      [...stage.model.transactions.values()]
        .flat()
        .map(({ slot }) => slot)
        .toSorted(ascending)[0];
    for (const startSlot of [third, third + 5n]) {
      const { stop } = stage.start({ startSlot });
      await stage.live(10);
      await stage.settled();
      await stop();
      expect(lowest()).toBe(third);
    }
    stage.start({ startSlot: 0n });
    await stage.liveUntil('what lies before is a gap', () => stage.model.gaps.has(0n));
    await expectWhole();
    expect(lowest()).toBe(first);
  });

  test('reopens and reads the rest of a gap that was closed at the start slot, once the start slot is lowered', async () => {
    await open();
    await stage.live(80);
    const middle = ledgerTransactions(stage.chain)[40]?.slot as bigint;
    // An earlier run was to read all of it, and stopped before it had read any.
    stage.model.gaps.set(0n, { kind: 'gap', fromSlot: 0n, toSlot: 20n, toTime: null, closed: false });
    const first = stage.start({ startSlot: middle });
    await stage.live(10);
    await stage.settled();
    await first.stop();
    expect(stage.model.gaps.get(0n)).toMatchObject({ closed: true, obstacle: { firstSlot: middle } });
    stage.start({ startSlot: 0n });
    await stage.liveUntil('it is open again', () => stage.model.gaps.get(0n)?.closed === false);
    await expectWhole();
  });

  test('reads a gap down to its first slot despite a later start slot, where older transactions are stored', async () => {
    await open({ retentionSlots: 20 });
    const earlier = stage.start();
    await stage.live(40);
    await stage.settled();
    await earlier.stop();
    const ended = stage.chain.tip().slot;
    await stage.live(80);
    const startSlot = stage.chain.tip().slot - 30n;
    const closing = () => stage.model.gaps.get(ended + 1n);
    const clipped = stage.start({ startSlot });
    await expectWhole();
    expect(closing()).toMatchObject({ closed: true });
    expect(closing()?.obstacle).toBeUndefined();
    await clipped.stop();
    // As left by a version that closed the gap without regard to older transactions.
    const lost = ledgerTransactions(stage.chain).filter(({ slot }) => slot > ended && slot < startSlot);
    expect(lost.length).toBeGreaterThan(5);
    for (const { signature } of lost) stage.model.transactions.delete(signature);
    const obstacle = { type: 'pruned', firstSlot: startSlot } as const;
    stage.model.gaps.set(ended + 1n, { ...(closing() as GapRecord), obstacle });
    stage.start({ startSlot });
    await stage.liveUntil('it is open again', () => closing()?.closed === false);
    await expectWhole();
  });

  test('holds the stream back while the log is full, and loses nothing', async () => {
    await open();
    let held = true;
    const wait = Promise.withResolvers<void>();
    const log = createMemoryLog({ startOffsets: {}, maxBytes: 100_000 });
    const run: typeof log.run = (apply, signal) =>
      log.run(async (batch) => {
        if (held) await wait.promise;
        await apply(batch);
      }, signal);
    stage.start({ log: { append: log.append, close: log.close, run } });
    await stage.liveUntil('the log is full', () => log.waitingBytes() > 100_000);
    await stage.live(100);
    // One append of the outbox may come on top.
    expect(log.waitingBytes()).toBeLessThan(5_000_000);
    held = false;
    wait.resolve();
    await expectWhole();
  });

  test('catches up over RPC once the node is back after an outage, lagging at first', async () => {
    await open();
    await stage.live(40);
    stage.rpc.faults.down('refuse');
    stage.start();
    await stage.liveUntil('it streams', () => stage.model.markers.transactions.length > 0);
    await stage.live(20);
    expect(stage.model.gaps.get(0n)?.closed).toBe(false);
    stage.rpc.faults.down(null);
    stage.rpc.faults.lag(15);
    await stage.restUntil('history is read', () => stage.model.transactions.size > 50);
    stage.rpc.faults.lag(0);
    await expectWhole();
  });

  test('with commitment finalized logs every transaction too', async () => {
    await open();
    stage.start({ commitment: 'finalized' });
    await stage.live(150);
    const shown = stage.chain.tip().slot - 32n;
    await until(
      'it has come to what is final',
      () => (stage.model.markers.accounts.at(-1) ?? 0n) >= shown - 3n,
    );
    const seen = ledgerTransactions(stage.chain).filter(({ slot }) => slot <= shown - 3n);
    await until('history is whole', () =>
      seen.every(({ signature }) => stage.model.transactions.has(signature)),
    );
  });
});
