import { afterEach, expect, test } from 'vitest';
import type { ListStatus } from '../../../ingest/stream/sweeps/list-proof.ts';
import { createSweeper, type Sweeper } from '../../../ingest/stream/sweeps/sweep.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { policyBytes } from '../materialise/support/accounts.ts';
import { account, key, rawKey } from '../materialise/support/records.ts';
import { until } from '../support/stream-stage.ts';

const PROGRAM = rawKey('program');
let stop: AbortController;
afterEach(() => stop.abort());

/**
 * A sweeper over a node that lists no accounts and cannot read the account `bad` until the test lets it.
 * @param data of that account, owned by the program; null: it does not exist
 */
function sweeping(data: Uint8Array | null) {
  stop = new AbortController();
  const seen = {
    ...{ sent: [] as LogRecord[], listed: [] as ListStatus[] },
    ...{ lists: 0, listsAtPart: 0, compared: 0, isBroken: true },
  };
  const stateOf = (address: string, slot: bigint): AccountRecord => ({
    ...account('any', data === null ? rawKey('system') : PROGRAM, data ?? new Uint8Array(8)),
    ...{ source: 'rpc', slot, address: decodeKey(address) as Uint8Array, lamports: data === null ? 0n : 1n },
  });
  const sweeper: Sweeper = createSweeper({
    reader: {
      read: async (addresses: readonly string[], notBefore: bigint) => {
        if (seen.isBroken && addresses.includes(key('bad'))) throw new Error('timed out');
        return addresses.map((address) => stateOf(address, notBefore));
      },
      readProgram: async () => {
        seen.lists += 1;
        return [];
      },
    } as never,
    ...{ programId: PROGRAM, addresses: () => [key('bad')], mints: () => [], brought: () => 9n },
    ...{ named: async () => [], isKnown: () => true, compareMs: 10, learn: () => {} },
    isHistoryRead: async () => {
      seen.compared += 1;
      return true;
    },
    onListed: (listed) => {
      seen.listed.push(listed);
      if (listed === 'part') seen.listsAtPart ||= seen.lists;
    },
    send: async (records) => void seen.sent.push(...records),
    ...{ logger: createLogger('silent', 'test'), signal: stop.signal },
  });
  return { sweeper, seen };
}

const slotsOf = (sent: readonly LogRecord[]) =>
  sent.flatMap((one) =>
    one.kind === 'account' && encodeBase58(one.address) === key('bad') ? [one.slot] : [],
  );

test('an account that a sweep had to leave out is read later, at the slot that the sweep was requested for', async () => {
  const { sweeper, seen } = sweeping(null);
  sweeper.request(9n);
  await until('the sweep is done', () => seen.listed.length > 0);
  expect(seen.sent).toEqual([]);
  seen.isBroken = false;
  await until('it is read', () => seen.sent.length > 0);
  expect(slotsOf(seen.sent)).toEqual([9n]);
});

test('a newcomer that could not be read is read later, at the slot that it was requested for', async () => {
  const { sweeper, seen } = sweeping(null);
  await sweeper.read([key('bad')], 9n);
  expect(seen.sent).toEqual([]);
  seen.isBroken = false;
  await until('it is read', () => seen.sent.length > 0);
  expect(slotsOf(seen.sent)).toEqual([9n]);
});

test('a list is proved complete only once the account that it lacks could be read and does not exist', async () => {
  const { sweeper, seen } = sweeping(null);
  sweeper.request(9n);
  await until('it is compared again and again', () => seen.compared > 5);
  expect(seen.listed).toEqual(['unproved']);
  seen.isBroken = false;
  await until('it is proved', () => seen.listed.includes('proved'));
  expect(seen.lists).toBe(1);
  expect(slotsOf(seen.sent)).toEqual([9n]);
});

test('if an account that a list lacks, unreadable at first, turns out to exist, a second list without it counts as partial', async () => {
  const { sweeper, seen } = sweeping(policyBytes());
  sweeper.request(9n);
  await until('it is compared again and again', () => seen.compared > 5);
  expect([seen.lists, seen.listed]).toEqual([1, ['unproved']]);
  seen.isBroken = false;
  await until('it is told', () => seen.listed.includes('part'));
  // The account may have come up after the first list: only a later one shows that the node leaves it out.
  expect(seen.listsAtPart).toBe(2);
  expect(seen.listed).not.toContain('proved');
});

test.each([0, 8, 700])(
  'an account of %i zero bytes that somebody gave to the program does not make a list partial',
  async (length) => {
    const { sweeper, seen } = sweeping(new Uint8Array(length));
    seen.isBroken = false;
    sweeper.request(9n);
    await until('it is told', () => seen.listed.length > 0);
    expect(seen.listed).not.toContain('part');
    await until('it is proved', () => seen.listed.includes('proved'));
    expect(seen.listed).toEqual(['unproved', 'proved']);
    expect(slotsOf(seen.sent)).toEqual([9n]);
  },
);
