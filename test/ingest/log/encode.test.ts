import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeRecord, encodeRecord, UnreadableRecordError } from '../../../ingest/log/record-codec.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size });
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const time = fc.option(fc.integer({ min: -1, max: 2 ** 40 }));
const key = bytes(32).map(encodeBase58);
const kind = <T extends string>(value: T) => fc.constant(value);

const account = fc.record({
  kind: kind('account'),
  source: fc.constantFrom('stream' as const, 'rpc' as const),
  slot: u64,
  blockTime: time,
  address: bytes(32),
  owner: bytes(32),
  lamports: u64,
  data: fc.uint8Array({ maxLength: 2_000 }),
  writeVersion: u64,
  signature: fc.option(bytes(64)),
  expected: fc.constantFrom(null, 'program', 'token_account', 'mint', 'metadata', 'pool', 'curve_config'),
});
const transaction = fc.record(
  {
    kind: kind('transaction'),
    source: fc.constantFrom('stream' as const, 'rpc' as const),
    slot: u64,
    blockTime: time,
    signature: bytes(64),
    index: fc.option(fc.nat()),
    order: fc.nat(),
    format: fc.constantFrom('geyser' as const, 'json' as const),
    payload: fc.uint8Array({ maxLength: 2_000 }),
    standing: fc.constantFrom('disputed' as const, 'decides' as const),
  },
  {
    requiredKeys: [
      ...(['kind', 'source', 'slot', 'blockTime', 'signature', 'index', 'order', 'format'] as const),
      'payload',
    ],
  },
);
const marker = fc.record(
  {
    ...{ kind: kind('marker'), slot: u64, parent: u64, blockTime: time },
    followed: fc.record({ slot: u64, blockTime: time }),
    missed: fc.record({ after: u64, to: u64 }),
  },
  { requiredKeys: ['kind', 'slot', 'parent', 'blockTime'] },
);
const plainGap = { kind: kind('gap'), fromSlot: u64, toSlot: u64, toTime: time, closed: fc.boolean() };
const gap = fc.oneof(
  fc.record(plainGap),
  fc.record({ ...plainGap, before: key, obstacle: fc.constant(null) }),
  fc.record({
    ...plainGap,
    before: fc.option(key),
    obstacle: fc.oneof(
      fc.record({ type: kind('unread'), signature: key }),
      fc.record({ type: kind('pruned'), firstSlot: u64 }),
    ),
  }),
);
const reading = fc.record({
  kind: kind('reading'),
  readAt: fc.nat(),
  reading: fc.record({
    type: kind('metadata'),
    mint: key,
    uri: fc.string({ unit: 'grapheme' }),
    imageUrl: fc.option(fc.string()),
    error: fc.option(fc.string()),
  }),
});
const deadLetter = fc.record({
  kind: kind('dead-letter'),
  source: fc.constantFrom('stream' as const, 'rpc' as const, 'poll' as const),
  what: fc.string(),
  where: key,
  reason: fc.string({ unit: 'grapheme' }),
  slot: fc.option(u64),
  bytes: fc.uint8Array({ maxLength: 500 }),
});
const recompute = fc.record({
  kind: kind('recompute'),
  partition: fc.nat(),
  mints: fc.array(key, { maxLength: 5 }),
  slots: fc.array(u64, { maxLength: 5 }),
});
const verified = fc.record({
  kind: kind('verified'),
  slot: u64,
  struck: fc.array(
    fc.record({ signature: key, slot: u64, policies: fc.array(key), events: fc.constant([]) }),
    { maxLength: 3 },
  ),
});
const part = fc.record({
  kind: kind('part'),
  of: fc.constantFrom('account' as const, 'transaction' as const),
  key: fc.uint8Array({ minLength: 32, maxLength: 64 }),
  hash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  at: fc.nat(63),
  count: fc.nat(64),
  bytes: fc.uint8Array({ maxLength: 500 }),
});
const profit = fc.record({
  kind: kind('profit'),
  signature: fc.uint8Array({ minLength: 64, maxLength: 64 }),
  policy: key,
  profit: u64,
});
const laterTime = fc.record({
  kind: kind('time'),
  address: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  slot: u64,
  blockTime: fc.nat(),
});
const carried = fc.record({
  kind: kind('carried'),
  address: bytes(32),
  slot: u64,
  blockTime: time,
  carried: fc.boolean(),
});
const unseen = fc.record({ kind: kind('unseen'), address: bytes(32), slot: u64 });
const record = fc.oneof(
  carried,
  unseen,
  laterTime,
  profit,
  part,
  account,
  transaction,
  marker,
  gap,
  reading,
  recompute,
  verified,
  deadLetter,
) as fc.Arbitrary<LogRecord>;

/** A record without the fields that later versions added; null where its kind has none. */
function older(record: LogRecord): LogRecord | null {
  if (record.kind === 'marker') {
    const { followed: _, missed: __, ...marker } = record;
    return marker;
  }
  if (record.kind === 'gap') {
    const { before: _, obstacle: __, ...gap } = record;
    return gap;
  }
  if (record.kind !== 'transaction') return null;
  const { standing: _, ...transaction } = record;
  return transaction;
}

/** Bytes of a record as plain lists, so that a view of a buffer equals what it shows. */
const plain = (value: LogRecord) =>
  Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, field instanceof Uint8Array ? [...field] : field]),
  );

test(`every record decodes from its bytes unchanged (seed ${SEED})`, () => {
  fc.assert(
    fc.property(record, (value) => {
      expect(plain(decodeRecord(encodeRecord(value)))).toEqual(plain(value));
    }),
    { seed: SEED, numRuns: 2_000 },
  );
});

test(`bytes that are cut short, too long or of another version are an unreadable record (seed ${SEED})`, () => {
  fc.assert(
    fc.property(record, fc.nat(), (value, place) => {
      const encoded = encodeRecord(value);
      // Cut where an older version's record ends, it is a valid record of that version.
      const before = older(value);
      fc.pre(before === null || place % encoded.length !== encodeRecord(before).length);
      expect(() => decodeRecord(encoded.subarray(0, place % encoded.length))).toThrow(UnreadableRecordError);
      expect(() => decodeRecord(Buffer.concat([encoded, Buffer.of(9)]))).toThrow(UnreadableRecordError);
      expect(() => decodeRecord(Buffer.concat([Buffer.of(99), encoded.subarray(1)]))).toThrow('version 99');
    }),
    { seed: SEED, numRuns: 500 },
  );
});

test('a reading of an older log that has tokenAccount is read with venueAccount instead', () => {
  const told = {
    ...{ type: 'venue_account', venue: 'perp', equity: '1', notional: null, reason: null },
    ...{ reachable: true, error: null, venueTime: null },
  };
  const bytes = encodeRecord({
    kind: 'reading',
    readAt: 7,
    reading: { ...told, tokenAccount: 'x' } as never,
  });
  expect(decodeRecord(bytes)).toEqual({
    ...{ kind: 'reading', readAt: 7 },
    reading: { ...told, venueAccount: 'x' },
  });
});
