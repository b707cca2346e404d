import { afterEach, expect, test } from 'vitest';
import { createFollowedAddresses } from '../../../ingest/stream/following/addresses.ts';
import type { ListStatus } from '../../../ingest/stream/sweeps/list-proof.ts';
import { createSweeper } from '../../../ingest/stream/sweeps/sweep.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { policyBytes } from '../materialise/support/accounts.ts';
import { account, key, rawKey } from '../materialise/support/records.ts';
import { until } from '../support/stream-stage.ts';

const PROGRAM = rawKey('program');
/** Data of an account that another version of the program made. */
const SHORT = policyBytes().subarray(0, 100);
/** A test gives up after so many lists: a sweeper must not ask a node for such long work again and again. */
const MOST_LISTS = 20;

let stop: AbortController;
afterEach(() => stop.abort());

/** A sweeper over a node with these policies; `lists` says which of them each list has. */
function sweeping(there: Record<string, Uint8Array>, lists: (name: string, list: number) => boolean) {
  stop = new AbortController();
  const seen = { listed: [] as ListStatus[], lists: 0, compared: 0 };
  const following = createFollowedAddresses(PROGRAM, rawKey('launchpad'));
  const isKnown = (address: string) => following.expectedAt(decodeKey(address) as Uint8Array) === 'program';
  const stateOf = (address: string): AccountRecord => {
    const data = Object.entries(there).find(([name]) => key(name) === address)?.[1];
    const owner = data === undefined ? rawKey('system') : PROGRAM;
    const state = account('any', owner, data ?? new Uint8Array(0));
    const bytes = decodeKey(address) as Uint8Array;
    return { ...state, source: 'rpc', slot: 9n, address: bytes, lamports: data === undefined ? 0n : 1n };
  };
  const sweeper = createSweeper({
    reader: {
      read: async (addresses: readonly string[]) => addresses.map(stateOf),
      readUntrusted: async (addresses: readonly string[]) => addresses.map(stateOf),
      readProgram: async () => {
        seen.lists += 1;
        if (seen.lists === MOST_LISTS) stop.abort();
        const names = Object.keys(there).filter((name) => lists(name, seen.lists));
        return names.map((name) => stateOf(key(name)));
      },
    } as never,
    ...{
      programId: PROGRAM,
      addresses: () => [...following.streamed()],
      mints: following.mints,
      compareMs: 10,
    },
    ...{ isKnown, brought: () => 9n, send: async () => {} },
    named: async () => {
      seen.compared += 1;
      return Object.keys(there).map((name) => key(name));
    },
    learn: (records) => records.forEach(following.learn),
    isHistoryRead: async () => true,
    onListed: (listed) => seen.listed.push(listed),
    ...{ logger: createLogger('silent', 'test'), signal: stop.signal },
  });
  sweeper.request(9n);
  return seen;
}

test('a list that contains an account which does not decode is proved complete', async () => {
  const seen = sweeping({ short: SHORT }, () => true);
  await until('it is proved', () => seen.listed.includes('proved') || stop.signal.aborted);
  expect(seen).toMatchObject({ lists: 1, listed: ['unproved', 'proved'] });
});

test('an undecodable account missing from the first list is found in the second, which is proved complete', async () => {
  const seen = sweeping({ short: SHORT }, (_, list) => list > 1);
  await until('it is proved', () => seen.listed.includes('proved') || stop.signal.aborted);
  expect(seen).toMatchObject({ lists: 2, listed: ['unproved', 'unproved', 'proved'] });
});

test('a list that lacks an existing account twice counts as partial and is not requested again without a pause', async () => {
  const seen = sweeping(
    { short: SHORT, gone: new Uint8Array(0), other: policyBytes({ venueCount: 0 }) },
    (name) => name === 'other',
  );
  await until('it is compared again and again', () => seen.compared > 6 || stop.signal.aborted);
  expect(seen.listed.slice(0, 3)).toEqual(['unproved', 'unproved', 'part']);
  expect(seen.listed).not.toContain('proved');
  expect(seen.lists).toBeLessThan(MOST_LISTS);
});
