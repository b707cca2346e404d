import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { FINALIZED_BEHIND } from '../../../devnet/geyser/subscriber.ts';
import { POLITE } from '../../../devnet/rpc/manners.ts';
import type { UnreadGap } from '../../../ingest/history/read-history.ts';
import { createLateSlots } from '../../../ingest/verify/late-slots.ts';
import { createOpenSlots } from '../../../ingest/verify/open-slots.ts';
import {
  recall,
  type VerificationStore,
  type VerifyOptions,
  verifyForever,
  verifyNext,
} from '../../../ingest/verify/verify.ts';
import type { PlacedTransaction } from '../../../ingest/verify/verify-window.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { decodeBase58, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { key, rawKey } from '../materialise/support/records.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

let stage: StreamStage;
let rpc: Rpc;
let listed: PlacedTransaction[];

beforeAll(async () => {
  stage = await openStreamStage({ seed: 'verify', policies: 10 });
  await stage.live(120);
  for (let made = 0; made < 70; made += 1) await stage.chain.produce([]);
  rpc = createRpc(stage.rpc.url, { commitment: 'confirmed' });
  listed = (await rpc.getSignaturesForAddress(stage.chain.programId, null, 1000)).map(
    ({ signature, slot, failed }) => ({ signature, slot, outcome: failed ? 'failed' : 'effects' }),
  );
});
afterEach(() => stage.rpc.faults.behave(POLITE));
afterAll(() => stage.close());

const GHOST = { signature: encodeBase58(new Uint8Array(64).fill(9)), slot: 40n };

interface Known {
  told?: bigint | null;
  before?: bigint | null;
  behind?: string | null;
}

async function verify(
  stored: readonly PlacedTransaction[],
  changed: Partial<VerifyOptions> = {},
  { told = null, before = null, behind = null }: Known = {},
) {
  const records: LogRecord[] = [];
  const store: VerificationStore = {
    verifiedSlot: async () => before,
    nextSlot: async () => stored.at(-1)?.slot ?? null,
    signatureBehind: async () => behind,
    storedBetween: async (from, to) => stored.filter(({ slot }) => slot >= from && slot <= to),
    tracesOf: async (ghosts) => ghosts.map((ghost) => ({ ...ghost, policies: [], events: [] })),
    disputedSlots: async () => [],
  };
  const found = await verifyNext(
    {
      ...{ rpc, commitment: 'confirmed', store, programId: stage.chain.programId, startSlot: 0n, everyMs: 0 },
      log: { append: async (added) => void records.push(...added) },
      applied: async () => stage.chain.tip().slot,
      openGaps: async () => [],
      logger: createLogger('silent', 'verify'),
      signal: new AbortController().signal,
      ...changed,
    },
    told,
  );
  return { found, records };
}
/** A transaction with this outcome, deep enough to be compared. */
const having = (wanted: PlacedTransaction['outcome']) =>
  listed.find(({ outcome, slot }) => outcome === wanted && slot < 100n) as PlacedTransaction;
const placeOf = (slot: bigint, signature: Uint8Array) =>
  stage.chain.block(slot)?.transactions.find((tx) => Buffer.compare(tx.signature, signature) === 0)?.index;
const signaturesIn = (records: readonly LogRecord[]) =>
  records.flatMap((record) => (record.kind === 'transaction' ? [encodeBase58(record.signature)] : []));

const accountOf = (signature: Uint8Array) => encodeBase58(signature.subarray(0, 32));

/** A node whose index ends at a slot: lists and transactions are written together. */
const indexedTo = (last: bigint): Rpc => ({
  ...rpc,
  getSignaturesForAddress: async (address, before, limit, read) => {
    const all = await rpc.getSignaturesForAddress(address, null, 1_000, read);
    const indexed = all.filter(({ slot }) => slot <= last);
    const place = indexed.findIndex(({ signature }) => signature === before);
    return before !== null && place === -1 ? [] : indexed.slice(place + 1, place + 1 + limit);
  },
  getTransaction: async (signature, read) => {
    const found = await rpc.getTransaction(signature, read);
    return found !== null && Number(found.slot) > last ? null : found;
  },
});

/** A node that lists these and returns each without its meta. */
const unreadable = (some: readonly PlacedTransaction[]): Rpc => ({
  ...rpc,
  getTransaction: async (signature, read) =>
    some.some((one) => one.signature === signature) ? { meta: null } : rpc.getTransaction(signature, read),
});

/** The accounts that are to be read again after a comparison. */
async function readAgain(stored: readonly PlacedTransaction[]) {
  const read: string[] = [];
  await verify(stored, {
    accounts: {
      writtenBy: (record) => [accountOf(record.signature)],
      read: (addresses, notBefore) => read.push(`${addresses} at ${notBefore}`),
      readAll: (slot) => read.push(`all behind ${slot}`),
    },
  });
  return read;
}

describe('the comparison of what is stored with the chain', () => {
  test.each([
    ['64 slots before the tip at confirmed', 'confirmed', 64n],
    ['32 slots before what is final at finalized', 'finalized', 32n + FINALIZED_BEHIND],
  ] as const)('verifies slots where both agree, up to %s', async (_, commitment, behind) => {
    const slot = stage.chain.tip().slot - behind;
    const at = createRpc(stage.rpc.url, { commitment });
    const { found, records } = await verify(listed, { rpc: at, commitment });
    expect(found).toEqual({ slot, read: 0, struck: 0, more: false });
    expect(records).toEqual([{ kind: 'verified', slot, struck: [] }]);
  });

  test('asks only nodes that are 32 slots past the window at confirmed, also about what it strikes', async () => {
    const windowEnd = stage.chain.tip().slot - 64n;
    const leasts = new Set<bigint | undefined>();
    const noting: Rpc = {
      ...rpc,
      getSignaturesForAddress: (address, before, limit, read) => {
        leasts.add(read?.minContextSlot);
        return rpc.getSignaturesForAddress(address, before, limit, read);
      },
    };
    expect((await verify([...listed, GHOST], { rpc: noting })).found).toMatchObject({ struck: 1 });
    expect([...leasts]).toEqual([windowEnd + 32n]);
  });

  test('reads what is missing, then strikes what the chain does not have', async () => {
    const lost = listed[5] as PlacedTransaction;
    const moved = { ...(listed[9] as PlacedTransaction), slot: 3n };
    const stored = [...listed.filter((one) => one !== lost), moved, GHOST];
    const { found, records } = await verify(stored);
    expect(found).toMatchObject({ read: 1, struck: 2 });
    expect(signaturesIn(records)).toEqual([lost.signature]);
    expect(records.at(-1)).toMatchObject({ kind: 'verified', struck: [moved, GHOST] });
  });

  test('looks at a slot again once a late transaction is applied; a new process looks at recent slots again', async () => {
    const slot = stage.chain.tip().slot - 64n;
    const late = createLateSlots();
    const stored = [...listed, GHOST];
    const after = { told: slot, before: slot };
    expect((await verify(stored, { late }, after)).found).toBeNull();
    late.add(GHOST.slot, stage.chain.tip().slot);
    expect((await verify(stored, { late }, after)).found).toBeNull();
    late.add(GHOST.slot, slot);
    const { found, records } = await verify(stored, { late }, after);
    expect(found).toEqual({ slot, read: 0, struck: 1, more: false });
    expect(records).toMatchObject([{ kind: 'verified', slot, struck: [GHOST] }]);
    expect((await verify(stored, { late }, after)).found).toBeNull();
    expect((await verify(stored, {}, { before: slot })).found).toEqual({
      slot,
      read: 0,
      struck: 1,
      more: false,
    });
  });

  test('gives transactions without an index their order in the slot by the list, also those read again', async () => {
    const inOrder = [...Map.groupBy(listed, ({ slot }) => slot).values()]
      .filter((of) => of.length > 1 && having('effects').slot >= (of[0]?.slot ?? 0n))
      .map((of) => of.toReversed());
    const [lost, kept] = inOrder as [PlacedTransaction[], PlacedTransaction[]];
    const again = kept.at(-1) as PlacedTransaction;
    const stored = listed
      .filter((one) => !lost.includes(one))
      .map((one) => (one === again ? { ...one, undated: true } : one));
    const { records } = await verify(stored, {
      rpc: {
        ...rpc,
        getTransaction: async (...args) => {
          const { transactionIndex: _, ...told } = (await rpc.getTransaction(...args)) ?? {};
          return told;
        },
      },
    });
    const read = records.flatMap((record) => (record.kind === 'transaction' ? [record] : []));
    expect(read.map(({ index }) => index)).toEqual(read.map(() => null));
    expect(new Map(read.map(({ signature, order }) => [encodeBase58(signature), order]))).toEqual(
      new Map([
        ...lost.map(({ signature }, at) => [signature, at] as const),
        [again.signature, kept.length - 1],
      ]),
    );
  });

  test('reads a transaction without a block time again if the node knows the time by now', async () => {
    const undated = { ...(listed[5] as PlacedTransaction), undated: true };
    const stored = [...listed.filter((_, at) => at !== 5), undated];
    const { found, records } = await verify(stored);
    expect(found).toMatchObject({ read: 1, struck: 0 });
    expect(signaturesIn(records)).toEqual([undated.signature]);
    expect(records[0]).toMatchObject({ blockTime: stage.chain.block(undated.slot)?.blockTime });
    stage.rpc.faults.behave({ withoutTimes: true });
    expect((await verify(stored)).found).toMatchObject({ read: 0, struck: 0 });
  });

  test('reads a transaction again that may be written in part only, even if the node knows no time', async () => {
    const unwritten = { ...(listed[5] as PlacedTransaction), unwritten: true };
    const stored = [...listed.filter((_, at) => at !== 5), unwritten];
    stage.rpc.faults.behave({ withoutTimes: true });
    const { found, records } = await verify(stored);
    expect(found).toMatchObject({ read: 1, struck: 0 });
    expect(signaturesIn(records)).toEqual([unwritten.signature]);
  });

  test('ignores a wrong mark in the list: whether a transaction failed is taken from itself', async () => {
    stage.rpc.faults.behave({ mismarkedOneIn: 1 });
    expect((await verify(listed)).found).toMatchObject({ read: 0, struck: 0 });
    const lost = having('effects');
    const { found, records } = await verify(listed.filter((one) => one !== lost));
    expect(found).toMatchObject({ read: 1, struck: 0 });
    expect(signaturesIn(records)).toEqual([lost.signature]);
  });

  test('has accounts read again that were written by a transaction of which the stream brought nothing', async () => {
    const [lost, late] = [having('effects'), listed[5] as PlacedTransaction];
    const slot = stage.chain.tip().slot - 64n;
    const others = listed.filter((one) => one !== lost && one !== late);
    expect(await readAgain([...others, { ...late, unwritten: true, undated: true }])).toEqual([
      `${accountOf(decodeBase58(lost.signature) as Uint8Array)} at ${slot}`,
    ]);
    expect(await readAgain(listed)).toEqual([]);
    // Unseen changes are logged before the transaction: once it is stored, nothing shows that the stream left it out.
    const accounts = { writtenBy: () => [key('one')], read: () => {}, readAll: () => {} };
    const { records } = await verify(others, { accounts });
    expect(records.map(({ kind }) => kind)).toEqual([
      'unseen',
      'transaction',
      'unseen',
      'transaction',
      'verified',
    ]);
    expect(records).toContainEqual({ kind: 'unseen', address: rawKey('one'), slot: lost.slot });
  });

  test('has accounts read again in batches as they are found, and the rest where it breaks off', async () => {
    const slot = stage.chain.tip().slot - 64n;
    const read: string[] = [];
    const accounts = {
      writtenBy: ({ signature }: { signature: Uint8Array }) =>
        Array.from({ length: 60 }, (_, at) => `${at} of ${encodeBase58(signature)}`).map(key),
      read: (addresses: readonly string[], notBefore: bigint) =>
        read.push(`${addresses.length} at ${notBefore}`),
      readAll: () => {},
    };
    let asked = 0;
    const unlessGone = <T>(ask: () => Promise<T>) => {
      if (asked > 3) throw new RpcError('unreachable', 'gone');
      return ask();
    };
    const dying: Rpc = {
      ...rpc,
      getSlot: async (...args) => unlessGone(() => rpc.getSlot(...args)),
      getTransaction: async (...args) => {
        asked += 1;
        return unlessGone(() => rpc.getTransaction(...args));
      },
    };
    await expect(verify(listed.slice(30), { accounts, rpc: dying }).then(() => {})).rejects.toThrow('gone');
    expect(read).toEqual([`120 at ${slot}`, `60 at ${slot}`]);
  });

  test('has all accounts read again if the stream brought effects that the chain does not have', async () => {
    const all = [`all behind ${stage.chain.tip().slot - 64n}`];
    expect(await readAgain([...listed, { ...GHOST, outcome: 'effects' }])).toEqual(all);
    expect(await readAgain([...listed, GHOST])).toEqual(all);
    expect(await readAgain([...listed, { ...GHOST, outcome: 'failed' }])).toEqual([]);
    const not = having('failed');
    expect(await readAgain([...listed.filter((one) => one !== not), { ...not, outcome: 'effects' }])).toEqual(
      all,
    );
  });

  test('corrects a stored outcome by the transaction: a success is read, a failure is struck', async () => {
    const [did, not] = [having('effects'), having('failed')];
    const other = { [did.signature]: 'failed', [not.signature]: 'effects' } as const;
    const stored = listed.map((one) => ({ ...one, outcome: other[one.signature] ?? one.outcome }));
    const { found, records } = await verify(stored as PlacedTransaction[]);
    expect(found).toMatchObject({ read: 1, struck: 1 });
    expect(signaturesIn(records)).toEqual([did.signature]);
    expect(records.at(-1)).toMatchObject({ struck: [{ signature: not.signature, slot: not.slot }] });
  });

  test('reads a disputed transaction to decide it, and keeps its stored index if the node tells none', async () => {
    const [did, not] = [having('effects'), having('failed')];
    const indexes = new Map([
      [did.signature, 7],
      [not.signature, null],
    ]);
    const stored = listed.map((one): PlacedTransaction => {
      const index = indexes.get(one.signature);
      return index === undefined ? one : { ...one, outcome: 'effects', undated: true, disputed: { index } };
    });
    const read = async (withIndex: boolean) => {
      const all: bigint[] = [];
      const { found, records } = await verify(stored, {
        accounts: { writtenBy: () => [], read: () => {}, readAll: (slot) => all.push(slot) },
        rpc: {
          ...rpc,
          getTransaction: async (...args) => {
            const { transactionIndex, ...told } = (await rpc.getTransaction(...args)) ?? {};
            return withIndex ? { ...told, transactionIndex } : told;
          },
        },
      });
      expect(found).toMatchObject({ read: 2, struck: 0 });
      expect(all).toEqual([stage.chain.tip().slot - 64n]);
      return records.filter((record) => record.kind === 'transaction');
    };
    const decided = await read(false);
    expect(new Map(decided.map((one) => [encodeBase58(one.signature), one.index]))).toEqual(indexes);
    expect(decided.map(({ standing }) => standing)).toEqual(['decides', 'decides']);
    const placed = await read(true);
    expect(placed.map(({ index }) => index)).toEqual(
      placed.map(({ slot, signature }) => placeOf(slot, signature)),
    );
  });

  test('strikes a disputed transaction that the chain does not have', async () => {
    const { found, records } = await verify([...listed, { ...GHOST, disputed: { index: null } }]);
    expect(found).toMatchObject({ read: 0, struck: 1 });
    expect(records.at(-1)).toMatchObject({ struck: [{ signature: GHOST.signature }] });
  });

  test('in a new process looks at disputed slots first, however old, then at the recent ones', async () => {
    const late = createLateSlots();
    const tip = 20_000n;
    const windows: string[] = [];
    const options = {
      late,
      applied: async () => tip * 2n,
      rpc: { ...rpc, getSlot: async () => tip + 64n, getSignaturesForAddress: async () => [] },
      store: {
        verifiedSlot: async () => tip,
        nextSlot: async (from: bigint) => from,
        signatureBehind: async () => null,
        storedBetween: async (from: bigint, to: bigint) => {
          windows.push(`${from} to ${to}`);
          return [];
        },
        tracesOf: async () => [],
        disputedSlots: async () => [7n, 8_000n],
      },
    };
    await recall(options.store, late);
    let told: bigint | null = null;
    for (let look = 0; look < 4; look += 1) told = (await verify([], options, { told })).found?.slot ?? told;
    expect(windows).toEqual(['7 to 5007', '8000 to 13000', '19701 to 20000']);
  });

  test('leaves a one-slot gap per unreadable transaction (missing, doubted, disputed), and strikes one not on chain', async () => {
    const slot = stage.chain.tip().slot - 64n;
    const lost = having('effects');
    const disputed = listed.find((one) => one.outcome === 'effects' && one.slot < 60n) as PlacedTransaction;
    const doubted = having('failed');
    expect(new Set([lost, doubted, disputed, GHOST].map((one) => one.slot)).size).toBe(4);
    const stored = listed.flatMap((one): PlacedTransaction[] => {
      if (one === lost) return [];
      if (one === doubted) return [{ ...one, outcome: 'effects' }];
      return [one === disputed ? { ...one, disputed: { index: null } } : one];
    });
    const unread: UnreadGap[] = [];
    const { found, records } = await verify([...stored, GHOST], {
      rpc: unreadable([lost, doubted, disputed]),
      onUnread: (gap) => unread.push(gap),
    });
    expect(found).toEqual({ slot, read: 0, struck: 1, more: false });
    const ofSlot = ({ slot: at, signature }: PlacedTransaction) => ({
      ...{ kind: 'gap', fromSlot: at, toSlot: at, closed: false, obstacle: { type: 'unread', signature } },
      toTime: stage.chain.block(at)?.blockTime,
      before: listed.findLast((one) => one.slot > at)?.signature,
    });
    expect(records).toMatchObject([
      ...[lost, doubted, disputed].map(ofSlot),
      { kind: 'verified', slot, struck: [GHOST] },
    ]);
    expect(unread.map(({ signature }) => signature)).toEqual(
      [lost, doubted, disputed].map(({ signature }) => signature),
    );
  });

  test('skips a slot with a gap of its own; once that closes, it strikes there and logs unseen changes', async () => {
    const slot = stage.chain.tip().slot - 64n;
    const lost = having('effects');
    const ghost = { ...GHOST, slot: lost.slot };
    const without = [...listed.filter((one) => one !== lost), ghost];
    const late = createLateSlots();
    const open = createOpenSlots(late);
    const gap = { fromSlot: lost.slot, toSlot: lost.slot, toTime: null };
    const told: string[] = [];
    const kept = {
      ...{ late, open },
      accounts: {
        writtenBy: () => [key('one')],
        read: (addresses: readonly string[]) => told.push(...addresses),
        readAll: () => told.push('all'),
      },
    };
    const after = { told: slot, before: slot };
    // It cannot be read yet, so what it wrote is not known.
    await verify(without, { ...kept, rpc: unreadable([lost]) });
    expect(told).toEqual(['all']);
    // While the gap is open, nothing in it is compared.
    const { records: passed } = await verify(without, { ...kept, openGaps: async () => [gap] });
    expect(passed).toEqual([{ kind: 'verified', slot, struck: [] }]);
    expect((await verify(without, { ...kept, openGaps: async () => [gap] }, after)).found).toBeNull();
    // History has read it.
    const { records } = await verify([...listed, ghost], kept, after);
    expect(records).toMatchObject([
      { kind: 'unseen', address: rawKey('one'), slot: lost.slot },
      { kind: 'verified', slot, struck: [ghost] },
    ]);
    expect((await verify([...listed, ghost], kept, after)).found).toBeNull();
    // A process that finds the gap open knows nothing else about its slots.
    const lateOfNext = createLateSlots();
    const next = { ...kept, late: lateOfNext, open: createOpenSlots(lateOfNext) };
    expect((await verify(without, { ...next, openGaps: async () => [gap] }, after)).found).toBeNull();
    expect((await verify(listed, next, after)).records).toContainEqual(records[0]);
    lateOfNext.add(lost.slot, 0n);
    expect((await verify(listed, next, after)).records).toEqual([{ kind: 'verified', slot, struck: [] }]);
  });

  test('ends before a wider open gap, and at the applied marker', async () => {
    const gap = { fromSlot: 50n, toSlot: 60n, toTime: null };
    expect((await verify(listed, { openGaps: async () => [gap] })).found?.slot).toBe(49n);
    expect((await verify(listed, { applied: async () => 30n })).found?.slot).toBe(30n);
    expect((await verify(listed, { applied: async () => null })).found).toBeNull();
  });

  test('strikes nothing if the node has an incomplete list, pruned history or another chain', async () => {
    const last = listed[5] as PlacedTransaction;
    const lacking: Partial<Rpc> = {
      getSignaturesForAddress: async (...args) =>
        (await rpc.getSignaturesForAddress(...args)).filter(({ signature }) => signature !== last.signature),
    };
    await expect(verify(listed, { rpc: { ...rpc, ...lacking } })).rejects.toThrow('lacks');
    // Few are older: with more, the node would look like one of another chain.
    const firstBlock = (listed.at(-20) as PlacedTransaction).slot;
    stage.rpc.faults.behave({ firstBlock });
    await expect(verify(listed)).rejects.toThrow(`first block is ${firstBlock}`);
    stage.rpc.faults.behave(POLITE);
    const many = Array.from({ length: 400 }, (_, at) => ({
      signature: encodeBase58(new Uint8Array(64).fill(9).fill(at % 250, 0, 1 + (at % 40))),
      slot: 40n,
    }));
    await expect(verify([...many, ...listed.slice(-1)])).rejects.toThrow('it is another');
  });

  describe('a stored transaction that the node lacks', () => {
    const windowEnd = () => stage.chain.tip().slot - 64n;
    const newest = () => (listed[0] as PlacedTransaction).slot;

    test('is not struck while the index of the node ends before it, and is verified once that goes on', async () => {
      const last = windowEnd() - 20n;
      const above = listed.filter(({ slot }) => slot > last && slot <= windowEnd());
      expect(above.length).toBeGreaterThan(0);
      expect(above.length).toBeLessThan(50);
      for (const behind of [null, GHOST.signature])
        await expect(verify(listed, { rpc: indexedTo(last) }, { behind })).rejects.toThrow(
          'its index may end',
        );
      expect((await verify(listed)).found).toMatchObject({ slot: windowEnd(), read: 0, struck: 0 });
    });

    test('is not struck if the node has a hole there, though its first block is older', async () => {
      const [fromSlot, toSlot] = [windowEnd() - 30n, windowEnd() - 2n];
      const lost = listed.filter(({ slot }) => slot >= fromSlot && slot <= toSlot);
      expect(lost.length).toBeGreaterThan(0);
      stage.rpc.faults.behave({ jumped: { fromSlot, toSlot } });
      await expect(verify(listed)).rejects.toThrow('no time of a block about');
      stage.rpc.faults.behave(POLITE);
      expect((await verify(listed)).found).toMatchObject({ slot: windowEnd(), read: 0, struck: 0 });
    });

    test('is struck in a skipped slot, and where the program rests unless the index of the node may end there', async () => {
      let skipped = 10n;
      while (stage.chain.block(skipped) !== null) skipped += 1n;
      expect(skipped).toBeLessThan(newest());
      expect((await verify([...listed, { ...GHOST, slot: skipped }])).found).toMatchObject({ struck: 1 });
      while (windowEnd() <= newest()) await stage.chain.produce([]);
      const last = { ...GHOST, slot: windowEnd() };
      expect((await verify([...listed, last])).found).toMatchObject({ read: 0, struck: 1 });
      await expect(verify([...listed, last], { rpc: indexedTo(last.slot) })).rejects.toThrow(
        'its index may end',
      );
      const listsOne: Rpc = {
        ...rpc,
        getSignaturesForAddress: async (address, ...rest) =>
          address === stage.chain.programId ? rpc.getSignaturesForAddress(address, ...rest) : [],
      };
      expect((await verify([...listed, last], { rpc: listsOne })).found).toMatchObject({ struck: 1 });
    });
  });
});

test('windows follow one another without a pause, until verification rests at the tip', async () => {
  const stop = new AbortController();
  const tip = 20_000n;
  const windows: bigint[] = [];
  let atTip = () => {};
  const reached = new Promise<void>((resolve) => {
    atTip = resolve;
  });
  let looks = 0;
  const running = verifyForever({
    rpc: {
      ...rpc,
      // With each look the chain has another slot.
      getSlot: async () => tip + 64n + BigInt(windows.length),
      getSignaturesForAddress: async () => [],
    },
    store: {
      verifiedSlot: async () => {
        looks += 1;
        return null;
      },
      nextSlot: async (from) => from,
      signatureBehind: async () => null,
      storedBetween: async () => [],
      tracesOf: async () => [],
      disputedSlots: async () => [],
    },
    ...{ commitment: 'confirmed', programId: stage.chain.programId, startSlot: 0n, signal: stop.signal },
    log: { append: async () => {} },
    applied: async () => tip * 2n,
    openGaps: async () => [],
    logger: createLogger('silent', 'verify'),
    everyMs: 3_600_000,
    onVerified: ({ slot }) => {
      windows.push(slot);
      if (slot >= tip) atTip();
    },
  });
  await reached;
  // Without a rest the next look would be in the same turn of the event loop.
  await new Promise(setImmediate);
  expect(windows).toEqual([5_000n, 10_001n, 15_002n, tip + 3n]);
  expect(looks).toBe(windows.length);
  stop.abort();
  await running;
});
