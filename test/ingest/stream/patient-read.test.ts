import { expect, test } from 'vitest';
import { addressesWithoutRecord, createPatientRead } from '../../../ingest/accounts/patient-read.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { account, key, rawKey } from '../materialise/support/records.ts';

const options = () => ({ signal: new AbortController().signal, logger: createLogger('silent', 'test') });
const named = (address: string): AccountRecord => account(address, new Uint8Array(32), new Uint8Array(0));

test('one unreadable account among 100 is left out and the other 99 are read, in fewer than 40 requests', async () => {
  const addresses = Array.from({ length: 100 }, (_, at) => `account ${at}`);
  let requests = 0;
  const read = createPatientRead(async (some) => {
    requests += 1;
    if (some.includes('account 61')) throw new Error('too large');
    return some.map(named);
  }, options());
  const found = await read(addresses, 5n);
  const expected = addresses.filter((address) => address !== 'account 61').map(named);
  const keys = (records: readonly AccountRecord[] | null) =>
    records?.map(({ address }) => encodeBase58(address)).sort();
  expect(keys(found)).toEqual(keys(expected));
  expect(requests).toBeLessThan(40);
});

test('a batch is retried whole, not split, while the node answers nothing at all', async () => {
  const asked: number[] = [];
  const read = createPatientRead(async (some) => {
    asked.push(some.length);
    if (asked.length < 7) throw new Error('refused');
    return some.map(named);
  }, options());
  expect(await read(['a', 'b'], 5n)).toHaveLength(2);
  expect(asked.filter((length) => length === 2)).toHaveLength(5);
});

const PROBE = '11111111111111111111111111111111';

test('an account that is read after three failures is not left out, although the node answers other requests', async () => {
  let failures = 0;
  const read = createPatientRead(async (some) => {
    if (!some.includes(PROBE) && failures++ < 3) throw new Error('timed out');
    return some.map(named);
  }, options());
  expect(await read(['a'], 5n)).toHaveLength(1);
});

test('an account that fails once when read by itself, after its batch of 100 was split, is not left out', async () => {
  const addresses = Array.from({ length: 100 }, (_, at) => `account ${at}`);
  let hasFailed = false;
  const read = createPatientRead(async (some) => {
    if (some.includes('account 61')) {
      if (some.length > 1) throw new Error('too large');
      if (!hasFailed) {
        hasFailed = true;
        throw new Error('timed out');
      }
    }
    return some.map(named);
  }, options());
  expect(await read(addresses, 5n)).toHaveLength(100);
});

test('addressesWithoutRecord returns the requested addresses that have no record', () => {
  const records = ['a', 'c'].map((name) => ({ ...named(name), address: rawKey(name) }));
  expect(addressesWithoutRecord(['a', 'b', 'c', 'd'].map(key), records)).toEqual(['b', 'd'].map(key));
});
