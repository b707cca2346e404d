import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RpcServer, serveRpc } from '../../../devnet/rpc/server.ts';
import { type Gap, PrunedError } from '../../../ingest/history/gap.ts';
import { closeGap } from '../../../ingest/history/read-history.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

/** A slot without transactions of the program, like the next one. */
const FIRST_KEPT = 78n;

let stage: StreamStage;
let forgetful: RpcServer;
let whole: Gap;
let all: bigint[];

beforeAll(async () => {
  stage = await openStreamStage({ seed: 'kept-part', policies: 5 });
  await stage.live(260);
  whole = { fromSlot: 0n, toSlot: stage.chain.tip().slot, toTime: null };
  for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
  forgetful = await serveRpc({ ledger: stage.chain, port: 0, manners: { firstBlock: FIRST_KEPT } });
  all = (await closing(whole, [stage.rpc.url])).slots;
});
afterAll(async () => {
  await forgetful.close();
  await stage.close();
});

/** Slots of the gap's transactions in an interval, by a node that keeps all. */
const slotsFrom = (from: bigint, to = whole.toSlot): bigint[] =>
  all.filter((slot) => slot >= from && slot <= to);

type List = Rpc['getSignaturesForAddress'];

const rpcOf = (urls: readonly string[]): Rpc => createRpc(urls, { commitment: 'confirmed' });

/** Tries to close a gap. @param made how the node changes its lists @returns what was logged, and the error or null */
async function closing(gap: Gap, urls: readonly string[], made: (list: List) => List = (list) => list) {
  const told: LogRecord[] = [];
  const nodes = rpcOf(urls);
  const rpc = { ...nodes, getSignaturesForAddress: made(nodes.getSignaturesForAddress) };
  const failure = await closeGap(gap, {
    ...{ rpc, programId: stage.chain.programId, signal: new AbortController().signal },
    log: { append: async (records) => void told.push(...records), close: async () => {} },
  }).then(
    () => null,
    (error: unknown) => error,
  );
  const slots = told.flatMap((record) => (record.kind === 'transaction' ? [record.slot] : []));
  const gaps = told.flatMap((record) => (record.kind === 'gap' ? [record] : []));
  return { failure, gaps, last: gaps.at(-1), slots: slots.toSorted((a, b) => Number(a - b)) };
}

const PAGES = { 'the longest page': 1_000, 'a page of ten': 10, 'a page of two': 2 };

test.each(Object.entries(PAGES))(
  'what a pruned node keeps of a gap is read with %s, and the rest stays open below its first block',
  async (_, most) => {
    const short =
      (list: List): List =>
      (address, before, wanted, read) =>
        list(address, before, Math.min(wanted, most), read);
    const { failure, last, slots } = await closing(whole, [forgetful.url], short);
    expect(slots).toEqual(slotsFrom(FIRST_KEPT));
    expect(failure).toBeInstanceOf(PrunedError);
    expect((failure as PrunedError).obstacle).toEqual({ type: 'pruned', firstSlot: FIRST_KEPT });
    const time = stage.chain.block(FIRST_KEPT)?.blockTime;
    expect(last).toMatchObject({ fromSlot: 0n, toSlot: FIRST_KEPT - 1n, toTime: time, closed: false });
    // The rest cannot be read by this node again; a node that keeps it reads from there on.
    const rest: Gap = { fromSlot: 0n, toSlot: FIRST_KEPT - 1n, toTime: null, before: last?.before ?? null };
    const again = await closing(rest, [forgetful.url], short);
    expect([again.gaps, again.slots]).toEqual([[], []]);
    expect(again.failure).toBeInstanceOf(PrunedError);
    const archive = await closing(rest, [forgetful.url, stage.rpc.url], short);
    expect([archive.failure, archive.slots]).toEqual([null, slotsFrom(0n, FIRST_KEPT - 1n)]);
  },
);

test('of several pruned nodes the one that keeps most is read, whichever is named first', async () => {
  const more = await serveRpc({ ledger: stage.chain, port: 0, manners: { firstBlock: 200n } });
  for (const urls of [
    [forgetful.url, more.url],
    [more.url, forgetful.url],
  ]) {
    const { failure, last, slots } = await closing(whole, urls);
    expect((failure as PrunedError).obstacle).toEqual({ type: 'pruned', firstSlot: FIRST_KEPT });
    expect([slots, last?.toSlot]).toEqual([slotsFrom(FIRST_KEPT), FIRST_KEPT - 1n]);
  }
  await more.close();
});

test('behind one address with nodes pruned at different slots, only slots that were read count as read', async () => {
  const less = await serveRpc({ ledger: stage.chain, port: 0, manners: { firstBlock: 120n } });
  const lists = rpcOf([less.url]).getSignaturesForAddress;
  let left = 10;
  const { last, slots } = await closing(whole, [forgetful.url], (list) => async (...asked) => {
    const [address, before, wanted, read] = asked;
    const kept = await list(...asked);
    left -= 1;
    // For the first requests one node answers which blocks it keeps, and another, which keeps fewer, answers the list.
    if (left < 0) return kept;
    const { keptFrom: _, ...other } = read ?? {};
    return lists(address, before, wanted, other);
  });
  expect(slots).toEqual(slotsFrom((last?.toSlot ?? 0n) + 1n));
  await less.close();
});

test('without getBlockTime the rest of a gap gets the block time of the lowest transaction that was read', async () => {
  forgetful.faults.behave({ lacks: ['getBlockTime'] });
  const { last, slots } = await closing(whole, [forgetful.url]);
  forgetful.faults.behave({ lacks: [] });
  const time = stage.chain.block(slots[0] as bigint)?.blockTime;
  expect(last).toMatchObject({ toSlot: FIRST_KEPT - 1n, toTime: time });
});

test('the kept part of a gap counts as read where the node lists no transaction in it', async () => {
  const quiet: Gap = { fromSlot: 0n, toSlot: stage.chain.tip().slot - 33n, toTime: null };
  const none =
    (list: List): List =>
    (...asked) =>
      list(...asked).then(() => []);
  const { failure, last, slots } = await closing(quiet, [forgetful.url], none);
  expect(failure).toBeInstanceOf(PrunedError);
  expect([slots, last]).toMatchObject([[], { toSlot: FIRST_KEPT - 1n, before: null, closed: false }]);
});

test('over a node that prunes one more slot at each check, only slots that were read count as read', async () => {
  let first = FIRST_KEPT;
  const { failure, slots, last } = await closing(
    whole,
    [forgetful.url],
    (list) => (address, before, wanted, read) => {
      if (read?.keptFrom !== undefined) {
        first += 1n;
        forgetful.faults.behave({ firstBlock: first });
      }
      return list(address, before, wanted, read);
    },
  );
  const from = (last?.toSlot ?? 0n) + 1n;
  expect(failure).toBeInstanceOf(PrunedError);
  expect(slots).toEqual(slotsFrom(from));
});
