import { expect, onTestFinished, test, vi } from 'vitest';
import { POLITE } from '../../../devnet/rpc/manners.ts';
import { createGapCloser } from '../../../ingest/history/gap-closer.ts';
import { VOTE_PROGRAM } from '../../../ingest/history/prove-top.ts';
import { verifyNext } from '../../../ingest/verify/verify.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { awaited } from '../../support/awaited.ts';
import { openStreamStage } from '../support/stream-stage.ts';

const logger = createLogger('silent', 'test');
const { signal } = new AbortController();
/** A chain that ends with a slot in which the program did something, and a gap of all its slots that is being closed. */
async function closing(seed: string, { lag = 0, listsVotes = true } = {}) {
  const stage = await openStreamStage({ seed, policies: 3 });
  let now = 0;
  const clocked = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(async () => {
    clocked.mockRestore();
    await stage.close();
  });
  const { programId } = stage.chain;
  const node = createRpc(stage.rpc.url, { commitment: 'confirmed' });
  let looks = 0;
  let pending = 0;
  const noted = <T>(answer: Promise<T>): Promise<T> => {
    pending += 1;
    return answer.finally(() => {
      pending -= 1;
    });
  };
  const rpc: Rpc = {
    ...node,
    getSlot: (options) => {
      looks += 1;
      return noted(node.getSlot(options));
    },
    getSignaturesForAddress: async (address, ...rest) =>
      address === VOTE_PROGRAM && !listsVotes ? [] : noted(node.getSignaturesForAddress(address, ...rest)),
  };
  const newest = async () => (await rpc.getSignaturesForAddress(programId, null, 1))[0];
  await stage.live(40);
  while ((await newest())?.slot !== stage.chain.tip().slot) await stage.live(1);
  const { slot: toSlot } = stage.chain.tip();
  const all = (await rpc.getSignaturesForAddress(programId, null, 1_000)).toReversed();

  const records: LogRecord[] = [];
  const begin = () => {
    const gaps = createGapCloser({
      ...{ rpc, programId, logger, signal },
      log: { append: async (added) => void records.push(...added), close: async () => {} },
      reached: () => stage.chain.tip().slot,
    });
    gaps.add({ fromSlot: 0n, toSlot, toTime: null });
    return gaps;
  };
  stage.rpc.faults.lag(lag);
  return {
    ...{ stage, rpc, toSlot, all, records, begin },
    read: () =>
      records.flatMap((record) => (record.kind === 'transaction' ? [encodeBase58(record.signature)] : [])),
    isClosed: () => records.some((record) => record.kind === 'gap' && record.closed),
    /** Sets the monotonic clock, which stands otherwise. */
    setClock: (ms: number) => {
      now = ms;
    },
    /** Resolves once the node was asked how far it is at this time, and nothing of the gap could be read yet. */
    lookAt: async (ms: number) => {
      const before = looks;
      now = ms;
      await awaited(() => expect({ looks, pending }).toEqual({ looks: before + 1, pending: 0 }));
      expect(records).toEqual([]);
    },
  };
}

test.each([0, 5])(
  'a gap closes on a chain that makes %i more slots and then stands still, fifteen seconds later and not before',
  async (more) => {
    const { stage, all, begin, lookAt, setClock, read, isClosed } = await closing(`stands-still-${more}`);
    for (let made = 0; made < more; made += 1) await stage.chain.produce([]);
    const gaps = begin();
    await lookAt(0);
    await lookAt(14_999);
    setClock(16_000);
    await gaps.idle();
    expect(isClosed()).toBe(true);
    expect(read().toSorted()).toEqual(all.map(({ signature }) => signature).toSorted());
  },
);

test('the fifteen seconds begin once the node has come to the end of the gap', async () => {
  const { stage, begin, lookAt, setClock, isClosed } = await closing('stands-below', { lag: 3 });
  const gaps = begin();
  await lookAt(0);
  await lookAt(20_000);
  stage.rpc.faults.lag(0);
  await lookAt(21_000);
  await lookAt(35_999);
  setClock(37_000);
  await gaps.idle();
  expect(isClosed()).toBe(true);
});

test('the fifteen seconds go on where another node, which is below the end of the gap, answers in between', async () => {
  const { stage, begin, lookAt, setClock, isClosed } = await closing('stands-between');
  const gaps = begin();
  await lookAt(0);
  stage.rpc.faults.lag(3);
  await lookAt(7_000);
  stage.rpc.faults.lag(0);
  setClock(15_500);
  await gaps.idle();
  expect(isClosed()).toBe(true);
});

test('a node that comes back after minutes is waited for as at first, and its votes count', async () => {
  const { stage, all, begin, lookAt, setClock, read } = await closing('stands-back');
  stage.rpc.faults.behave({ indexBehind: 1 });
  const gaps = begin();
  await lookAt(0);
  stage.rpc.faults.lag(3);
  for (const ms of [10_000, 300_000, 599_000]) await lookAt(ms);
  stage.rpc.faults.lag(0);
  for (const ms of [600_000, 614_999, 629_000]) await lookAt(ms);
  stage.rpc.faults.behave(POLITE);
  setClock(630_000);
  await gaps.idle();
  expect(read()).toHaveLength(all.length);
});

test('a minute passes, too, while each look takes long and the votes are not listed', async () => {
  const started = await closing('stands-slow');
  const { stage, rpc, all, begin, lookAt, setClock, read } = started;
  const { getSignaturesForAddress } = rpc;
  rpc.getSignaturesForAddress = async (address, ...rest) => {
    if (address === VOTE_PROGRAM) throw new RpcError('unreachable', 'timed out');
    return getSignaturesForAddress(address, ...rest);
  };
  const gaps = begin();
  for (const ms of [0, 40_000]) await lookAt(ms);
  setClock(80_000);
  await gaps.idle();
  expect(read()).toHaveLength(all.length);
  expect(stage.chain.tip().slot).toBe(started.toSlot);
});

test('a node that stands still while the stream has gone on 32 slots is waited for', async () => {
  const { stage, all, begin, lookAt, setClock, read } = await closing('stands-alone');
  for (let made = 0; made < 32; made += 1) await stage.chain.produce([]);
  stage.rpc.faults.lag(30);
  const gaps = begin();
  await lookAt(0);
  await lookAt(60_000);
  stage.rpc.faults.lag(0);
  setClock(61_000);
  await gaps.idle();
  expect(read()).toHaveLength(all.length);
});

test('an index that shows by its votes that it lacks the last slot is waited for, for a minute', async () => {
  const { stage, all, begin, lookAt, setClock, read } = await closing('stands-unindexed');
  stage.rpc.faults.behave({ indexBehind: 1 });
  const gaps = begin();
  await lookAt(0);
  for (const ms of [15_000, 30_000, 45_000, 59_999]) await lookAt(ms);
  stage.rpc.faults.behave(POLITE);
  setClock(60_500);
  await gaps.idle();
  expect(read()).toHaveLength(all.length);
});

test.each([
  ['without votes lacked of the last slot after fifteen seconds', false, 15_000],
  ['lacked of the last slot even after a minute', true, 60_000],
])('what an index %s is read once the chain goes on', async (_, listsVotes, ms) => {
  const started = await closing(`stands-behind-${ms}`, { listsVotes });
  const { stage, rpc, toSlot, all, begin, lookAt, setClock, read, records } = started;
  stage.rpc.faults.behave({ indexBehind: 1 });
  const gaps = begin();
  for (let at = 0; at < ms; at += 15_000) await lookAt(at);
  setClock(ms);
  await gaps.idle();
  const lacking = all.filter(({ slot }) => slot === toSlot).map(({ signature }) => signature);
  expect(lacking.length).toBeGreaterThan(0);
  const unread = all.filter(({ signature }) => !read().includes(signature));
  expect(unread.map(({ signature }) => signature)).toEqual(lacking);

  stage.rpc.faults.behave(POLITE);
  const compare = () => {
    const stored = all.filter(({ signature }) => read().includes(signature));
    return verifyNext(
      {
        ...{ rpc, commitment: 'confirmed', programId: stage.chain.programId, startSlot: 0n, logger, signal },
        store: {
          verifiedSlot: async () => null,
          nextSlot: async (from) => stored.find(({ slot }) => slot >= from)?.slot ?? null,
          signatureBehind: async () => null,
          storedBetween: async (from, to) => stored.filter(({ slot }) => slot >= from && slot <= to),
          tracesOf: async () => [],
          disputedSlots: async () => [],
        },
        log: { append: async (added) => void records.push(...added) },
        applied: async () => stage.chain.tip().slot,
        openGaps: async () => [],
      },
      null,
    );
  };
  // Nothing says that the slot is verified before it lies deep enough.
  expect(await compare()).toBeNull();
  for (let made = 0; made < 64; made += 1) await stage.chain.produce([]);
  expect(await compare()).toMatchObject({ read: lacking.length, struck: 0 });
  expect(read().toSorted()).toEqual(all.map(({ signature }) => signature).toSorted());
});
