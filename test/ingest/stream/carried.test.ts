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

test('an address that enters the rota is logged as lost once, however often it is read there', () => {
  const { carried, told } = setUp();
  carried.lost(keys('a', 'b'), 7n);
  expect(told()).toEqual(['a lost behind 7', 'b lost behind 7']);
  for (const slot of [8n, 9n]) carried.stateLogged(reading('a', slot));
  carried.lost(keys('a'), 12n);
  carried.markerLogged(20n);
  expect(told()).toEqual([]);
});

test('program accounts and mints that enter the rota are not logged as lost', () => {
  const { carried, told } = setUp();
  carried.lost(keys('policy', 'mint'), 7n);
  expect(told()).toEqual([]);
});

describe('an address that leaves the rota', () => {
  test('is logged as carried from the slot of its reading on, behind the marker of that slot', () => {
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

  test('stays lost if it enters the rota again before it is logged as carried', () => {
    const { carried, told, atWork } = setUp();
    carried.lost(keys('a'), 7n);
    carried.leftRota(keys('a'));
    carried.readOverRpc(keys('a'), 11n);
    atWork(11n, 'a');
    carried.lost(keys('a'), 10n);
    carried.markerLogged(20n);
    expect(told()).toEqual(['a lost behind 7']);
  });

  test('is logged as lost anew if it enters the rota again after it was logged as carried', () => {
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

describe('a newly followed address', () => {
  test('is logged as neither lost nor carried if it is first read at a slot that the stream carries', () => {
    const { carried, told, atWork } = setUp();
    carried.added(keys('a'));
    carried.readOverRpc(keys('a'), 11n);
    atWork(11n, 'a');
    carried.stateLogged(reading('a', 11n));
    carried.stateLogged(reading('a', 12n));
    carried.markerLogged(12n);
    expect(told()).toEqual([]);
  });

  test.each(['before', 'after'])(
    'is lost after a reading of an earlier slot (logged %s the request took effect), then carried',
    (when) => {
      const { carried, told, atWork } = setUp();
      carried.added(keys('a'));
      if (when === 'before') carried.stateLogged(reading('a', 9n));
      carried.readOverRpc(keys('a'), 11n);
      atWork(11n, 'a');
      if (when === 'after') carried.stateLogged(reading('a', 9n));
      atWork(12n, 'a');
      carried.markerLogged(12n);
      expect(told()).toEqual(['a lost behind 9', 'a carried behind 11']);
    },
  );
});

describe('an address that was lost when the process began', () => {
  const before = { address: key('a'), first: 5n, last: 30n };

  test('is not logged again if it is still lost', () => {
    const { carried, told } = setUp([before]);
    carried.lost(keys('a'), 20n);
    expect(told()).toEqual([]);
  });

  test('is logged as lost again if the log resumes from before its loss', () => {
    const { carried, told } = setUp([before]);
    carried.lost(keys('a'), 4n);
    expect(told()).toEqual(['a lost behind 4']);
  });

  test('is read, and logged as carried behind the last slot that it was lost at', () => {
    const { carried, told, atWork } = setUp([before]);
    atWork(21n, 'a');
    carried.markerLogged(30n);
    expect(told()).toEqual(['read a at 31']);
    carried.markerLogged(31n);
    expect(told()).toEqual(['a carried behind 31']);
  });

  test('is read and logged as carried even if the loss becomes known only later', () => {
    const { carried, told, atWork } = setUp();
    atWork(21n, 'a');
    carried.addEarlierLosses([before]);
    atWork(40n, 'a');
    carried.markerLogged(40n);
    expect(told()).toEqual(['read a at 40', 'a carried behind 40']);
  });
});
