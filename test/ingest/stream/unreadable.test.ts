import { afterEach, expect, test } from 'vitest';
import { createRandom } from '../../../devnet/program/state/random.ts';
import type { Gap } from '../../../ingest/history/gap.ts';
import { createUnreadable } from '../../../ingest/stream/unreadable.ts';
import type { LogRecord, TransactionRecord } from '../../../schemas/records.ts';
import { legibility } from '../../../schemas/transaction/legibility.ts';
import { ledgerTransactions, wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

const SEED = process.env.SEED ?? 'unreadable-1';
let stage: StreamStage;

afterEach(() => stage?.close());

const isTransaction = (record: LogRecord): record is TransactionRecord => record.kind === 'transaction';

test(`unreadable transactions count as missing at once, and are read over RPC (seed ${SEED})`, async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10 });
  const { chain, geyser, model } = stage;
  const random = createRandom(SEED);
  await stage.live(20);
  const { events } = stage.start();
  await stage.liveUntil('it streams', () => events.some(({ type }) => type === 'released'));
  geyser.faults.spoil(() => random.next());
  await stage.live(120);
  const spoiltSoFar = () =>
    model.order.filter(isTransaction).filter((record) => legibility(record) !== 'whole');
  // Which are spoilt, and how, depends on how many blocks were made before.
  await stage.liveUntil('both kinds came', () => new Set(spoiltSoFar().map(legibility)).size === 2);
  geyser.faults.spoil(null);
  await stage.settled();

  const spoilt = spoiltSoFar();
  expect(new Set(spoilt.map(legibility))).toEqual(new Set(['accounts', 'none']));
  // Nothing of a slot with an unreadable update counts as known before it was read again.
  for (const record of spoilt.filter((one) => legibility(one) === 'none')) {
    const marked = model.order.findIndex(
      ({ kind, ...of }) => kind === 'marker' && 'slot' in of && of.slot === record.slot,
    );
    const opened = model.order.findIndex((one) => one.kind === 'gap' && one.fromSlot === record.slot);
    expect(opened).toBeGreaterThanOrEqual(0);
    expect(opened).toBeLessThan(marked);
  }
  const readable = (signature: string) =>
    (model.transactions.get(signature) ?? []).some((one) => legibility(one) === 'whole');
  await stage.restUntil('all of it is read', () =>
    ledgerTransactions(chain).every(({ signature }) => readable(signature)),
  );
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  expect(events.filter(({ type }) => type === 'disconnected')).toEqual([]);
});

/** A slot that no chain reaches: a node that is asked for it would wait. */
const NEVER = 2n ** 52n;

/** Streams some updates of which nothing but the slot NEVER can be read. */
async function noisy(of: 'account' | 'transaction') {
  stage = await openStreamStage({ seed: SEED, policies: 10, skipChance: 0 });
  await stage.live(20);
  const { events } = stage.start();
  await stage.liveUntil('it streams', () => events.some(({ type }) => type === 'released'));
  stage.geyser.faults.noise(of, NEVER);
  await stage.live(5);
  stage.geyser.faults.noise(of, null);
  return stage;
}

test(`an unreadable account of a slot that never comes does not keep others from being read (seed ${SEED})`, async () => {
  const { chain, geyser, model } = await noisy('account');
  await stage.settled();
  const { slot: tip } = chain.tip();
  geyser.faults.hide(new Set(Array.from({ length: 8 }, (_, at) => tip + BigInt(at + 1))));
  await stage.live(8);
  expect(wrongStates(chain, model)).not.toEqual([]);
  // Nothing is written after the hole, so no state comes by itself.
  await stage.restUntil('the gap is opened', () => model.gaps.has(tip + 1n));
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
});

test(`an unreadable transaction of a slot that never comes opens a gap of the next slots, which is closed (seed ${SEED})`, async () => {
  const { model } = await noisy('transaction');
  await stage.settled();
  expect(model.gaps.has(NEVER)).toBe(false);
  const gaps = [...model.gaps.keys()].filter((slot) => slot > 0n);
  expect(gaps.length).toBeGreaterThan(0);
  // Nothing from that slot on counts as known before it was read again.
  for (const slot of gaps) {
    const opened = model.order.findIndex((one) => one.kind === 'gap' && one.fromSlot === slot);
    const marked = model.order.findIndex((one) => one.kind === 'marker' && one.slot === slot);
    expect(opened).toBeGreaterThanOrEqual(0);
    expect(opened).toBeLessThan(marked);
  }
});

test(`an unreadable transaction does not keep a hole that begins at its slot from being read (seed ${SEED})`, async () => {
  stage = await openStreamStage({ seed: SEED, policies: 10, skipChance: 0 });
  const { chain, geyser, model } = stage;
  stage.start();
  await stage.live(40);
  await stage.settled();
  const { slot: tip } = chain.tip();
  geyser.faults.hide(new Set(Array.from({ length: 8 }, (_, at) => tip + BigInt(at + 1))));
  geyser.faults.noise('transaction', tip + 1n);
  await stage.live(10);
  geyser.faults.noise('transaction', null);
  // Far enough that a gap of that slot alone would be closed before the hole becomes a gap.
  for (let made = 0; made < 28; made += 1) await chain.produce([]);
  await stage.restUntil('the hole is a gap', () =>
    model.order.some((one) => one.kind === 'gap' && one.fromSlot === tip + 1n && one.toSlot > one.fromSlot),
  );
  await stage.settled();
  const missing = ledgerTransactions(chain).filter(({ signature }) => !model.transactions.has(signature));
  expect(missing).toEqual([]);
});

/** Notes in words what is done about unreadable updates, with this slot as the last released. */
function doing(last: bigint | null) {
  const done: string[] = [];
  const known = new Set<bigint>();
  const unreadable = createUnreadable({
    gaps: {
      knows: (slot: bigint) => known.has(slot),
      add: ({ fromSlot, toSlot }: Gap) => {
        known.add(fromSlot);
        done.push(`gap ${fromSlot} to ${toSlot}`);
      },
    },
    sweeper: {
      request: (slot) => done.push(`all at ${slot}`),
      reread: (addresses, slot) => done.push(`${addresses} at ${slot}`),
    },
    ...{ reread: { add: () => {} }, readAll: (slot) => done.push(`all behind ${slot}`) },
    ...{ last: () => last, send: async () => {}, warn: () => {} },
  });
  return { done, unreadable };
}

test('an unreadable update is taken to be of the slot that it names where the stream is near that slot', () => {
  const { done, unreadable } = doing(100n);
  unreadable.update({ type: 'unreadable', of: 'account', slot: 101n });
  unreadable.update({ type: 'unreadable', of: 'transaction', slot: 102n });
  unreadable.followedUpdate(['a'], 103n, 90n);
  unreadable.followedUpdate(['b'], 1_001n, 1_000n);
  unreadable.update({ type: 'unreadable', of: 'transaction', slot: 99n });
  expect(done).toEqual(['all at 101', 'a at 103', 'b at 1001', 'gap 99 to 99']);
  // A hole may begin after the slot released last: it is not part of another gap.
  unreadable.released(101n);
  expect(done).toHaveLength(4);
  unreadable.released(103n);
  expect(done.slice(4)).toEqual(['gap 102 to 102']);
  unreadable.released(104n);
  expect(done).toHaveLength(5);
});

test('an unreadable update that names a far slot counts for any next slot, and for that one once it is reached', () => {
  const { done, unreadable } = doing(100n);
  unreadable.update({ type: 'unreadable', of: 'account', slot: 500n });
  unreadable.update({ type: 'unreadable', of: 'transaction', slot: NEVER });
  expect(done).toEqual([]);
  unreadable.released(101n);
  expect(done.splice(0)).toEqual(['gap 101 to 165', 'all behind 165']);
  unreadable.released(102n);
  expect(done).toEqual([]);
  unreadable.released(501n);
  expect(done).toEqual(['all at 500']);
});

test('before any release an unreadable update counts for the 64 slots after where its own stream is', () => {
  const { done, unreadable } = doing(null);
  unreadable.update({ type: 'unreadable', of: 'transaction', slot: 40n });
  unreadable.followedUpdate(['a'], NEVER, 900n);
  unreadable.released(40n);
  expect(done).toEqual(['gap 40 to 104', 'all behind 964']);
});

test('a gap for an unknown slot begins behind a known gap of one slot', () => {
  const { done, unreadable } = doing(101n);
  unreadable.update({ type: 'unreadable', of: 'transaction', slot: 101n });
  unreadable.update({ type: 'unreadable', of: 'transaction', slot: NEVER });
  unreadable.released(101n);
  expect(done).toEqual(['gap 101 to 101', 'gap 102 to 165']);
});
