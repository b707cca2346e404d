import { describe, expect, test } from 'vitest';
import { createCarriedAddresses, type LostBefore } from '../../../ingest/stream/followed-stream/carried.ts';
import type { AccountRecord, ExpectedAccount } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { account, key, rawKey } from '../materialise/support/records.ts';

const NAMES = ['a', 'b', 'policy', 'mint'];
const nameOf = (address: string) => NAMES.find((name) => key(name) === address) as string;
const namesOf = (addresses: readonly string[]) => addresses.map(nameOf).join(' ');
const EXPECTED: Record<string, ExpectedAccount> = { policy: 'program', mint: 'mint' };

/** Notes in words what it logs and what it has read over RPC. */
function setUp(lost: readonly LostBefore[] = []) {
  const done: string[] = [];
  const carried = createCarriedAddresses({
    lost,
    expectedAt: (address) => EXPECTED[nameOf(encodeBase58(address))] ?? 'token_account',
    timeOf: (slot) => (slot < 1_000n ? Number(slot) * 10 : null),
    send: (records) => {
      for (const { address, slot, carried: is } of records)
        done.push(`${nameOf(encodeBase58(address))} ${is ? 'carried' : 'lost'} behind ${slot}`);
    },
    reread: (addresses, notBefore) => done.push(`read ${namesOf(addresses)} at ${notBefore}`),
  });
  return { carried, told: () => done.splice(0), atWork: atWorkOf(carried) };
}
const keys = (...names: string[]) => names.map(key);
const atWorkOf =
  (carried: ReturnType<typeof createCarriedAddresses>) =>
  (slot: bigint, ...names: string[]) =>
    carried.requestAtWork(slot, () => keys(...names));
const reading = (name: string, slot: bigint, source: AccountRecord['source'] = 'rpc'): AccountRecord => ({
  ...account(name, rawKey('owner'), new Uint8Array(1), { slot, source }),
});

test('an address that goes into the turns is lost, however often it is read there', () => {
  const { carried, told } = setUp();
  carried.lost(keys('a', 'b'), 7n);
  expect(told()).toEqual(['a lost behind 7', 'b lost behind 7']);
  for (const slot of [8n, 9n]) carried.stateLogged(reading('a', slot));
  carried.lost(keys('a'), 12n);
  carried.markerLogged(20n);
  expect(told()).toEqual([]);
});

test('so it is of balances, pools and their configurations alone', () => {
  const { carried, told } = setUp();
  carried.lost(keys('policy', 'mint'), 7n);
  expect(told()).toEqual([]);
});

describe('one that leaves the turns', () => {
  test('is carried from where it was read by a request that is at work, behind the marker of that slot', () => {
    const { carried, told, atWork } = setUp();
    carried.lost(keys('a'), 7n);
    carried.leftRota(keys('a'));
    atWork(9n, 'b');
    carried.readOverRpc(keys('a'), 11n);
    atWork(11n, 'a', 'b');
    carried.markerLogged(10n);
    expect(told()).toEqual(['a lost behind 7']);
    carried.markerLogged(11n);
    expect(told()).toEqual(['a carried behind 11']);
    carried.markerLogged(12n);
    atWork(12n, 'a', 'b');
    expect(told()).toEqual([]);
  });

  test('is lost still where it goes into them again before', () => {
    const { carried, told, atWork } = setUp();
    carried.lost(keys('a'), 7n);
    carried.leftRota(keys('a'));
    carried.readOverRpc(keys('a'), 11n);
    atWork(11n, 'a');
    carried.lost(keys('a'), 10n);
    carried.markerLogged(20n);
    expect(told()).toEqual(['a lost behind 7']);
  });

  test('is lost anew where it goes into them again behind that', () => {
    const { carried, told, atWork } = setUp();
    carried.lost(keys('a'), 7n);
    carried.leftRota(keys('a'));
    carried.readOverRpc(keys('a'), 11n);
    atWork(11n, 'a');
    carried.markerLogged(11n);
    carried.lost(keys('a'), 11n);
    expect(told()).toEqual(['a lost behind 7', 'a carried behind 11', 'a lost behind 11']);
  });
});

describe('one that came up', () => {
  test('needs no word where it is first read once it is carried', () => {
    const { carried, told, atWork } = setUp();
    carried.added(keys('a'));
    carried.readOverRpc(keys('a'), 11n);
    atWork(11n, 'a');
    carried.stateLogged(reading('a', 11n));
    carried.stateLogged(reading('a', 12n));
    carried.markerLogged(12n);
    expect(told()).toEqual([]);
  });

  test.each(['before', 'behind'])(
    'is lost behind a reading of an earlier slot, which comes %s the request is at work',
    (when) => {
      const { carried, told, atWork } = setUp();
      carried.added(keys('a'));
      if (when === 'before') carried.stateLogged(reading('a', 9n));
      carried.readOverRpc(keys('a'), 11n);
      atWork(11n, 'a');
      if (when === 'behind') carried.stateLogged(reading('a', 9n));
      atWork(12n, 'a');
      carried.markerLogged(12n);
      expect(told()).toEqual(['a lost behind 9', 'a carried behind 11']);
    },
  );
});

describe('what was lost when a process began', () => {
  const before = { address: key('a'), first: 5n, last: 30n };

  test('is told no more where it still is', () => {
    const { carried, told } = setUp([before]);
    carried.lost(keys('a'), 20n);
    expect(told()).toEqual([]);
  });

  test('is told where the log goes on from before that', () => {
    const { carried, told } = setUp([before]);
    carried.lost(keys('a'), 4n);
    expect(told()).toEqual(['a lost behind 4']);
  });

  test('is read and carried behind all that was told of it', () => {
    const { carried, told, atWork } = setUp([before]);
    atWork(21n, 'a');
    carried.markerLogged(30n);
    expect(told()).toEqual(['read a at 31']);
    carried.markerLogged(31n);
    expect(told()).toEqual(['a carried behind 31']);
  });

  test('is the same where that is known only later', () => {
    const { carried, told, atWork } = setUp();
    atWork(21n, 'a');
    carried.addEarlierLosses([before]);
    atWork(40n, 'a');
    carried.markerLogged(40n);
    expect(told()).toEqual(['read a at 40', 'a carried behind 40']);
  });
});
