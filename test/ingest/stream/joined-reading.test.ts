import { afterEach, expect, test } from 'vitest';
import { createJoinedReading } from '../../../ingest/stream/sweeps/joined-reading.ts';
import { createSweeper } from '../../../ingest/stream/sweeps/sweep.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { account, key, rawKey } from '../materialise/support/records.ts';
import { until } from '../support/stream-stage.ts';

const ADDRESSES = Array.from({ length: 1_000 }, (_, at) => key(`followed ${at}`));
const FLAPS = 10n;
/** Readings that the sweeper runs side by side. */
const AT_ONCE = 4;

let stop: AbortController;
afterEach(() => stop.abort());

/** A sweeper over a node that answers nothing until the test lets it. */
function sweeping() {
  stop = new AbortController();
  const seen = { underWay: 0, most: 0, asked: 0, read: new Map<string, bigint[]>() };
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const stateOf = (address: string, slot: bigint): AccountRecord => ({
    ...account('any', rawKey('system'), new Uint8Array(8)),
    ...{ source: 'rpc', slot, address: decodeKey(address) as Uint8Array },
  });
  const sweeper = createSweeper({
    reader: {
      read: async (addresses: readonly string[], notBefore: bigint) => {
        seen.asked += 1;
        seen.underWay += 1;
        seen.most = Math.max(seen.most, seen.underWay);
        await released;
        seen.underWay -= 1;
        for (const one of addresses) seen.read.set(one, [...(seen.read.get(one) ?? []), notBefore]);
        return addresses.map((address) => stateOf(address, notBefore));
      },
    } as never,
    ...{ programId: rawKey('program'), addresses: () => [], mints: () => [], brought: () => 100n },
    ...{ named: async () => [], isKnown: () => true, isHistoryRead: async () => true },
    ...{ learn: () => {}, onListed: () => {}, send: async () => {} },
    ...{ logger: createLogger('silent', 'test'), signal: stop.signal },
  });
  return { sweeper, seen, release };
}

test('rereads requested faster than they are answered join into one at a time, the last at the newest slot', async () => {
  const { sweeper, seen, release } = sweeping();
  for (let flap = 1n; flap <= FLAPS; flap += 1n) sweeper.reread(ADDRESSES, flap);
  sweeper.reread([key('of an older slot')], 1n);
  await until('it is asked for', () => seen.asked >= AT_ONCE);
  expect([seen.asked, seen.most]).toEqual([AT_ONCE, AT_ONCE]);
  release();
  await until('all is read', () => seen.read.size === ADDRESSES.length + 1);
  await until('nothing is under way', () => seen.underWay === 0);
  expect(seen.most).toBe(AT_ONCE);
  for (const address of ADDRESSES) expect(seen.read.get(address)).toEqual([1n, FLAPS]);
  expect(seen.read.get(key('of an older slot'))).toEqual([FLAPS]);
});

test('a newcomer is read without waiting for the reread under way', async () => {
  const { sweeper, seen, release } = sweeping();
  sweeper.reread(ADDRESSES, 1n);
  const newcomer = sweeper.read([key('newcomer')], 2n);
  expect(seen.asked).toBe(AT_ONCE + 1);
  release();
  await newcomer;
  expect(seen.read.get(key('newcomer'))).toEqual([2n]);
});

test('a reread at a slot that the chain never reaches does not hold up rereads at much earlier slots', async () => {
  const read: string[] = [];
  const far = 1_000_000n;
  const reread = createJoinedReading(async (addresses, notBefore) => {
    if (notBefore >= far) return new Promise(() => {});
    read.push(`${addresses.join(' and ')} at ${notBefore}`);
    return undefined;
  });
  reread(['one'], far);
  reread(['one', 'other'], 100n);
  await until('it is read', () => read.length > 0);
  reread(['one'], 99n);
  await until('it is read', () => read.length > 1);
  expect(read).toEqual(['one and other at 100', 'one at 99']);
});

test('a reread at an unreachable slot does not hold up one that already waits behind another', async () => {
  const read: string[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reread = createJoinedReading(async (addresses, notBefore) => {
    if (notBefore >= 1_000_000n) return new Promise(() => {});
    if (notBefore === 100n) await released;
    read.push(`${addresses.join(' and ')} at ${notBefore}`);
    return undefined;
  });
  reread(['slow'], 100n);
  reread(['near'], 110n);
  reread(['one'], 1_000_000n);
  release();
  await until('all are read that can be', () => read.length === 2);
  expect(read.sort()).toEqual(['near at 110', 'slow at 100']);
});

test('a reread that throws leaves nothing to the next one, which is made at its own slot', async () => {
  const asked: bigint[] = [];
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => unhandled.push(error);
  const listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', onUnhandled);
  try {
    const reread = createJoinedReading(async (_, notBefore) => {
      asked.push(notBefore);
      if (asked.length === 1) throw new Error('as it is set up');
    });
    reread(['one'], 900n);
    await until('it is told', () => unhandled.length > 0);
    reread(['one'], 100n);
    await until('it is asked for', () => asked.length > 1);
    expect(asked).toEqual([900n, 100n]);
  } finally {
    process.off('unhandledRejection', onUnhandled);
    for (const listener of listeners) process.on('unhandledRejection', listener);
  }
});
