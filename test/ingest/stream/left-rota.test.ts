import { expect, test } from 'vitest';
import { createLeftRota } from '../../../ingest/stream/followed-stream/left-rota.ts';
import { createRota } from '../../../ingest/stream/followed-stream/rota.ts';
import { recordsOf } from '../../../ingest/stream/slots/records.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { awaited } from '../../support/awaited.ts';
import { account, key, rawKey } from '../materialise/support/records.ts';

const isFirst = (turned: ReturnType<typeof createLeftRota>, name: string) => turned.isFirst(rawKey(name));

test('the first streamed state of an address that left the rota counts as a reading, later ones do not', () => {
  const turned = createLeftRota();
  turned.left([key('a')]);
  expect(isFirst(turned, 'b')).toBe(false);
  expect(isFirst(turned, 'a')).toBe(true);
  expect(isFirst(turned, 'a')).toBe(false);
});

test('the first streamed state counts in full once the address was read over RPC at a slot that the stream carries', () => {
  const turned = createLeftRota();
  turned.left(['a', 'b', 'c'].map(key));
  turned.read(rawKey('a'), 9n);
  turned.carried(['a', 'b', 'other'].map(key), 10n);
  turned.read(rawKey('b'), 9n);
  for (const name of ['a', 'b', 'other']) expect(isFirst(turned, name), name).toBe(name !== 'other');
  turned.carried([key('c')], 10n);
  turned.read(rawKey('c'), 10n);
  expect(isFirst(turned, 'c')).toBe(false);
});

test('after an RPC reading the first streamed state counts in full also if the address was carried before it left the rota', () => {
  const turned = createLeftRota();
  turned.carried(['a', 'b', 'c'].map(key), 10n);
  turned.left(['a', 'b'].map(key));
  turned.read(rawKey('a'), 10n);
  for (const name of ['a', 'b', 'c']) expect(isFirst(turned, name), name).toBe(name === 'b');
});

test('the rota reports which addresses join it, and which leave it, with those that it has read', async () => {
  const left: string[][][] = [];
  const joined: string[][] = [];
  const stop = new AbortController();
  const read = Promise.withResolvers<void>();
  const rota = createRota({
    reader: {
      read: async (addresses: readonly string[]): Promise<AccountRecord[]> =>
        addresses
          .filter((address) => address !== key('silent'))
          .map((address) => ({
            ...account('any', new Uint8Array(32), new Uint8Array(8), { source: 'rpc' }),
            address: decodeKey(address) as Uint8Array,
          })),
    } as never,
    notBefore: () => 0n,
    onRead: async () => read.resolve(),
    onJoined: (addresses) => joined.push([...addresses].sort()),
    onLeft: (addresses, read) => left.push([[...addresses].sort(), [...read]]),
    ...{ logger: createLogger('silent', 'test'), signal: stop.signal },
  });
  rota.set(['silent', 'a', 'b'].map(key));
  await read.promise;
  rota.set([key('b')]);
  stop.abort();
  expect(left).toEqual([
    [[], []],
    [['a', 'silent'].map(key).sort(), [key('a')]],
  ]);
  expect(joined).toEqual([['silent', 'a', 'b'].map(key).sort()]);
});

const at = (slot: bigint, state: number): AccountRecord => ({
  ...account('a', new Uint8Array(32), new Uint8Array([state]), { source: 'rpc' }),
  slot,
});

test.each([
  // The sweep read before the second turn and comes behind it; that turn found no change.
  ['counts as newest after a turn that logged nothing', [at(15n, 2)], [at(10n, 1), at(20n, 1), at(30n, 1)]],
  // The log has a state of slot 25 by then, so the one of slot 15 is not the newest.
  [
    'does not count as newest after one of a later slot',
    [at(25n, 1), at(15n, 2)],
    [at(10n, 1), at(12n, 1), at(30n, 2)],
  ],
])(
  'the rota compares with the newest logged state, and an old reading that a sweep logs late %s',
  async (_, late, turns) => {
    const stop = new AbortController();
    const sent: bigint[] = [];
    const rota = createRota({
      reader: {
        read: async () => {
          if (turns.length === 1) for (const record of late) rota.told(record);
          const next = turns.shift();
          if (next === undefined) stop.abort();
          return next === undefined ? [] : [next];
        },
      } as never,
      notBefore: () => 0n,
      onRead: async (records) => void sent.push(...records.map(({ slot }) => slot)),
      ...{ onJoined: () => {}, onLeft: () => {}, everyMs: 1 },
      ...{ logger: createLogger('silent', 'test'), signal: stop.signal },
    });
    rota.set([key('a')]);
    await awaited(() => expect(stop.signal.aborted).toBe(true));
    expect(sent).toEqual([10n, 30n]);
  },
);

test('a streamed state that counts as a reading is logged with source rpc and keeps its write version', () => {
  const update = {
    ...({ type: 'account', slot: 7n, address: rawKey('a'), owner: rawKey('owner'), lamports: 1n } as const),
    ...{ data: new Uint8Array(1), writeVersion: 3n, signature: null },
  };
  const sent = [update, { ...update, isReading: true as const }].flatMap((one) =>
    recordsOf({ type: 'late', update: one, blockTime: 5 }, () => {}, { expectedAt: () => null }),
  );
  expect(sent).toMatchObject([
    { source: 'stream', writeVersion: 3n },
    { source: 'rpc', writeVersion: 3n },
  ]);
});
