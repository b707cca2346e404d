import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gap, PlaceUnknownError } from '../../../ingest/history/gap.ts';
import { closeGap, type UnreadGap } from '../../../ingest/history/read-history.ts';
import { historySlices } from '../../../ingest/history/signature-slices.ts';
import type { SignatureInfo } from '../../../runtime/rpc/replies.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import type { GapRecord, LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

let stage: StreamStage;
let rpc: Rpc;
/** All signatures of the chain, newest first. */
let all: SignatureInfo[];

beforeAll(async () => {
  stage = await openStreamStage({ seed: 'unread-again', policies: 10 });
  await stage.live(200);
  for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
  rpc = createRpc(stage.rpc.url, { commitment: 'confirmed' });
  all = await rpc.getSignaturesForAddress(stage.chain.programId, null, 1_000);
});
afterAll(() => stage.close());

const never = new AbortController().signal;

interface Manners {
  /** Transactions that the node lists and cannot give. */
  unread?: readonly string[];
  /** Transactions that it does not even list. */
  unlisted?: readonly string[];
  /** Only the first list lacks those, or only the second one; absent: both. */
  unlistedIn?: 'first' | 'second';
  /** Signatures in a page. */
  most?: number;
  /** The chain ends at this slot. */
  upTo?: bigint;
}

/** Tries to close a gap. @returns what was logged, whether it closed, and the places from which lists were asked */
async function tryClosing(gap: Gap, { unread = [], unlisted = [], unlistedIn, most = 1_000, upTo }: Manners) {
  const records: LogRecord[] = [];
  const told: UnreadGap[] = [];
  const places: (string | null)[] = [];
  let left = gap;
  const { programId } = stage.chain;
  const changed: Rpc = {
    ...rpc,
    getTransaction: async (one) => (unread.includes(one) ? null : rpc.getTransaction(one)),
    getSignaturesForAddress: async (address, before, limit, options) => {
      places.push(before);
      const first =
        before ?? all.findLast(({ slot }) => upTo !== undefined && slot > upTo)?.signature ?? null;
      const page = await rpc.getSignaturesForAddress(address, first, Math.min(limit, most), options);
      const isWhole = unlistedIn !== undefined && (unlistedIn === 'first') !== (places.length === 1);
      return isWhole ? page : page.filter(({ signature }) => !unlisted.includes(signature));
    },
  };
  const failure = await closeGap(gap, {
    ...{ rpc: changed, programId, signal: never, concurrency: 50 },
    log: { append: async (added) => void records.push(...added), close: async () => {} },
    onUnread: (gaps) => void told.push(...gaps),
    onProgress: (rest) => {
      left = rest;
    },
  }).then(
    () => null,
    (error: Error) => error,
  );
  const gaps = records.filter((record): record is GapRecord => record.kind === 'gap');
  const read = records.flatMap((record) =>
    record.kind === 'transaction' ? [encodeBase58(record.signature)] : [],
  );
  return { gaps, read, told, places, left, failure, isClosed: gaps.some(({ closed }) => closed) };
}

const at = (signature: string | null | undefined) => all.findIndex((one) => one.signature === signature);
const gapOf = ({ slot }: SignatureInfo): Gap => ({ fromSlot: slot, toSlot: slot, toTime: null });
/** A transaction with many newer ones, alone in its slot or the newest of several. */
const deep = (alone: boolean): SignatureInfo =>
  all.find(({ slot, failed }, index) => {
    const beside = all.filter((one) => one.slot === slot).length;
    return index > 40 && !failed && all[index - 1]?.slot !== slot && (alone ? beside === 1 : beside > 1);
  }) as SignatureInfo;

// Concurrent, as each waits for the pauses between tries.
describe.concurrent('a transaction that cannot be read', () => {
  test('is retried from the signature just above its slot, and its gap closes once it is read', async () => {
    const one = deep(true);
    const first = await tryClosing(gapOf(one), { unread: [one.signature], most: 10 });
    expect(first.failure?.message).toContain('cannot be read');
    expect(first.left).toMatchObject({
      signature: one.signature,
      before: all[at(one.signature) - 1]?.signature,
    });
    const again = await tryClosing(first.left, { unread: [one.signature], most: 10 });
    expect(again.failure?.message).toContain('cannot be read');
    expect(again.places).toEqual([first.left.before, first.left.before]);
    // The log has it already.
    expect(again.gaps).toEqual([]);
    const mended = await tryClosing(first.left, { most: 10 });
    expect(mended.read).toContain(one.signature);
    expect(mended.isClosed).toBe(true);
  });

  test('at the top of a wider gap, or deeper in it, gets a gap that is retried from the signature above its slot', async () => {
    const one = deep(true);
    const before = all[at(one.signature) - 1]?.signature;
    // The deepest is more than a page below the top.
    const tried = [0, 3, 15].map(async (below) => {
      const top = all[at(one.signature) - below] as SignatureInfo;
      const manners = { unread: [one.signature], most: 10 };
      const { told, isClosed } = await tryClosing({ ...gapOf(top), fromSlot: 0n }, manners);
      expect(told).toMatchObject([
        { ...gapOf(one), toTime: one.blockTime, signature: one.signature, before },
      ]);
      expect(isClosed).toBe(true);
      const again = await tryClosing(told[0] as UnreadGap, { most: 10 });
      expect(again.places[0]).toBe(before);
      expect(again.read).toEqual([one.signature]);
      expect(again.isClosed).toBe(true);
    });
    await Promise.all(tried);
  });

  test('at the tip gets a signature to be retried from once there is a newer one, and the log is told it', async () => {
    const one = deep(true);
    const first = await tryClosing(gapOf(one), { unread: [one.signature], upTo: one.slot });
    expect(first.left).toMatchObject({ signature: one.signature, before: null });
    const again = await tryClosing(first.left, { unread: [one.signature] });
    const before = all[at(one.signature) - 1]?.signature;
    expect(again.left).toMatchObject({ signature: one.signature, before });
    expect(again.gaps).toMatchObject([{ before, closed: false, obstacle: { signature: one.signature } }]);
  });

  test('names the gap of its slot once the one that named it before is read, and the log is told once', async () => {
    const newest = deep(false);
    const oldest = all.findLast(({ slot }) => slot === newest.slot) as SignatureInfo;
    const both = [newest.signature, oldest.signature];
    const first = await tryClosing(gapOf(newest), { unread: both });
    expect(first.left).toMatchObject({ signature: oldest.signature });
    const next = await tryClosing(first.left, { unread: [newest.signature] });
    expect(next.read).toContain(oldest.signature);
    expect(next.gaps).toMatchObject([{ closed: false, obstacle: { signature: newest.signature } }]);
    for (const unread of [[newest.signature], both]) {
      const again = await tryClosing(next.left, { unread });
      expect(again.failure?.message).toContain(newest.signature);
      expect(again.gaps).toEqual([]);
    }
  });

  test('keeps its gap if a list from the signature above lacks it', async () => {
    const one = deep(true);
    const unread = [one.signature];
    const { left } = await tryClosing(gapOf(one), { unread });
    const without = await tryClosing(left, { unread, unlisted: unread });
    expect(without.failure).toBeInstanceOf(PlaceUnknownError);
    expect(without.gaps).toEqual([]);
  });

  test('loses its gap only if two lists from the newest lack it', async () => {
    const one = deep(true);
    const unread = [one.signature];
    const { left } = await tryClosing(gapOf(one), { unread });
    const lacking = (unlistedIn?: 'first' | 'second') =>
      tryClosing({ ...left, before: null }, { unread, unlisted: unread, ...(unlistedIn && { unlistedIn }) });
    const tries = [lacking('first'), lacking('second'), lacking()] as const;
    const [first, second, both] = await Promise.all(tries);
    expect(first.failure?.message).toBe(`the first list lacked ${one.signature} of slot ${one.slot}`);
    expect(second.failure?.message).toBe(`the second list lacks ${one.signature}, which the first list has`);
    expect([...first.gaps, ...second.gaps]).toEqual([]);
    expect(both.isClosed).toBe(true);
  });

  test.each([1, 2, 3, 5, 8])(
    'is retried from a signature above its slot, never one inside it (%i signatures a page)',
    async (most) => {
      const listed: Partial<Rpc> = {
        getSignaturesForAddress: (address, before, limit, options) =>
          rpc.getSignaturesForAddress(address, before, Math.min(limit, most), options),
      };
      const gap = { fromSlot: 0n, toSlot: stage.chain.tip().slot - 40n, toTime: null };
      const options = { rpc: { ...rpc, ...listed }, programId: stage.chain.programId, signal: never };
      const wrong: string[] = [];
      for await (const { signatures, above } of historySlices(gap, options)) {
        const [newest] = signatures;
        if (above !== null && all[at(above)]?.slot === newest?.slot) wrong.push(above);
      }
      expect(wrong).toEqual([]);
    },
  );

  test('is read on retry even if a page of signatures ended inside its slot', async () => {
    const one = deep(false);
    const wide: Gap = {
      ...gapOf(one),
      fromSlot: 0n,
      toSlot: (all[at(one.signature) - 1] as SignatureInfo).slot,
    };
    const tried = [2, 3, 4].map(async (most) => {
      const { told } = await tryClosing(wide, { unread: [one.signature], most });
      const [gap] = told as [UnreadGap];
      expect((await tryClosing(gap, { most })).read).toContain(one.signature);
    });
    await Promise.all(tried);
  });
});
