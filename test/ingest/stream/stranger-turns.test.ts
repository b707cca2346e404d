import { expect, test } from 'vitest';
import { createStrangerTurns } from '../../../ingest/stream/sweeps/stranger-turns.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { AccountRecord, ExpectedAccount, LogRecord } from '../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { account, key } from '../materialise/support/records.ts';

test('addresses that strangers chose are read 100 at a time, not again in the next turns, and logged when new', async () => {
  const all = Array.from({ length: 230 }, (_, at) => key(`metadata ${at}`));
  const stop = new AbortController();
  const asked: string[][] = [];
  const sent: LogRecord[] = [];
  let rounds = 0;
  await createStrangerTurns({
    expected: 'metadata',
    read: async (addresses): Promise<AccountRecord[]> => {
      asked.push([...addresses]);
      return addresses.map((address) => ({
        ...account('any', new Uint8Array(32), new Uint8Array(8)),
        address: decodeKey(address) as Uint8Array,
      }));
    },
    addresses: () => {
      rounds += 1;
      if (rounds === 6) stop.abort();
      return all;
    },
    notBefore: () => 5n,
    send: async (records) => {
      sent.push(...records);
    },
    everyMs: 1,
    logger: createLogger('silent', 'test'),
    signal: stop.signal,
  }).run();
  expect(asked.map(({ length }) => length)).toEqual([100, 100, 30]);
  expect(new Set(asked.flat())).toEqual(new Set(all));
  expect(sent.map((record) => (record.kind === 'account' ? encodeBase58(record.address) : ''))).toHaveLength(
    230,
  );
});

test('a reading is compared with the newest logged state, also where a sweep logged that', async () => {
  const stop = new AbortController();
  const sent: [slot: bigint, value: number][] = [];
  const at = (slot: bigint, value: number): AccountRecord => ({
    ...account('a mint', new Uint8Array(32), Uint8Array.of(value)),
    expected: 'mint',
    slot,
    source: 'rpc',
  });
  /** What each turn finds, and what a sweep logs before the turn has its answer. */
  const rounds: { swept?: AccountRecord; found: AccountRecord }[] = [
    { found: at(10n, 1) },
    { found: at(12n, 1) },
    { swept: at(14n, 2), found: at(16n, 1) },
    { swept: at(20n, 3), found: at(18n, 1) },
    { found: at(22n, 1) },
    { swept: at(21n, 4), found: at(24n, 1) },
  ];
  const turns = createStrangerTurns({
    expected: 'mint',
    read: async () => {
      const round = rounds.shift();
      if (round === undefined) throw new Error('no round is left');
      if (round.swept !== undefined) turns.told(round.swept);
      if (rounds.length === 0) stop.abort();
      return [round.found];
    },
    addresses: () => [encodeBase58(at(0n, 0).address)],
    notBefore: () => 0n,
    send: async (records) => {
      for (const record of records)
        if (record.kind === 'account') sent.push([record.slot, record.data[0] ?? 0]);
    },
    ...{ everyMs: 1, againAfterMs: 0, logger: createLogger('silent', 'test'), signal: stop.signal },
  });
  await turns.run();
  expect(sent).toEqual([
    [10n, 1],
    [16n, 1],
    [22n, 1],
  ]);
});

test('a state that was logged as another kind of account is logged once more as this kind', async () => {
  const stop = new AbortController();
  const sent: string[] = [];
  const at = (slot: bigint, value: number, expected: ExpectedAccount): AccountRecord => ({
    ...account('metadata that is named as a mint', new Uint8Array(32), Uint8Array.of(value)),
    ...{ slot, expected, source: 'rpc' },
  });
  const rounds: { told?: AccountRecord; found: AccountRecord }[] = [
    { found: at(10n, 1, 'metadata') },
    { told: at(12n, 2, 'mint'), found: at(14n, 2, 'metadata') },
    { told: at(15n, 2, 'mint'), found: at(16n, 2, 'metadata') },
    // A node that is behind answers the earlier state.
    { told: at(20n, 3, 'token_account'), found: at(18n, 2, 'metadata') },
    { found: at(22n, 2, 'metadata') },
  ];
  const turns = createStrangerTurns({
    expected: 'metadata',
    read: async () => {
      const round = rounds.shift();
      if (round === undefined) throw new Error('no round is left');
      if (round.told !== undefined) turns.told(round.told);
      if (rounds.length === 0) stop.abort();
      return [round.found];
    },
    addresses: () => [encodeBase58(at(0n, 0, 'metadata').address)],
    notBefore: () => 0n,
    send: async (records) => {
      for (const record of records)
        if (record.kind === 'account') sent.push(`${record.data[0]} at ${record.slot}`);
    },
    ...{ everyMs: 1, againAfterMs: 0, logger: createLogger('silent', 'test'), signal: stop.signal },
  });
  await turns.run();
  expect(sent).toEqual(['1 at 10', '2 at 14', '2 at 22']);
});
