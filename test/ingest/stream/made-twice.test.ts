import { expect, test } from 'vitest';
import { writtenAccounts } from '../../../ingest/stream/following/written-accounts.ts';
import { createMadeTwice } from '../../../ingest/stream/slots/made-twice.ts';
import { toGeyser } from '../../schemas/support/encode-transaction.ts';
import { ours } from '../../schemas/support/program-calls.ts';
import { run } from '../../schemas/support/run.ts';
import { routed, transaction } from '../materialise/support/records.ts';

/**
 * The slots at which all accounts are asked for while slots 1 to `to` are released.
 * @param found the slots made twice, by the slot at whose release each is found
 */
function sweeps(found: ReadonlyMap<bigint, bigint>, to: bigint): bigint[] {
  const asked: bigint[] = [];
  const madeTwice = createMadeTwice((notBefore) => asked.push(notBefore));
  for (let slot = 1n; slot <= to; slot += 1n) {
    const of = found.get(slot);
    if (of !== undefined) madeTwice.found(of);
    madeTwice.released(slot);
  }
  return asked;
}

test('a slot that was made twice has all accounts read again once, at least 32 slots later', () => {
  expect(sweeps(new Map([[10n, 10n]]), 1_000n)).toEqual([42n]);
  expect(sweeps(new Map([[100n, 20n]]), 1_000n)).toEqual([100n]);
});

test('many slots made twice share one sweep per 150 slots, the last of which is behind all of them', () => {
  const all = new Map(Array.from({ length: 500 }, (_, at) => [BigInt(at + 1), BigInt(at + 1)]));
  expect(sweeps(all, 2_000n)).toEqual([33n, 183n, 333n, 483n, 633n]);
});

test('a slot that the chain never reaches does not hold up the sweeps for others', () => {
  const never = 1_000_000n;
  expect(
    sweeps(
      new Map([
        [5n, never],
        [10n, 10n],
      ]),
      1_000n,
    ),
  ).toEqual([42n]);
  expect(
    sweeps(
      new Map([
        [5n, never],
        [10n, 10n],
        [300n, 300n],
      ]),
      1_000n,
    ),
  ).toEqual([42n, 332n]);
});

test('a transaction may have written the streamed accounts that it names, unless it failed', () => {
  const record = transaction('t', 5n, [routed(1n)]);
  const written = writtenAccounts(record, () => true);
  expect(written.length).toBeGreaterThan(0);
  expect(writtenAccounts(record, (address) => address === undefined)).toEqual([]);
  const payload = toGeyser(run([ours({ emit: routed(1n) })], true), false);
  expect(writtenAccounts({ ...record, payload }, () => true)).toEqual([]);
});
