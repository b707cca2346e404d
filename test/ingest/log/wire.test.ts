import { expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../../../ingest/log/record-codec.ts';
import type { LogRecord } from '../../../schemas/records.ts';

const key = (fill: number) => new Uint8Array(4).fill(fill);

/** A record of every kind, with its bytes as the first version wrote it. */
const WRITTEN: [record: LogRecord, hex: string][] = [
  [
    {
      ...{ kind: 'account', source: 'rpc', slot: 258n, blockTime: 1, address: key(1), owner: key(2) },
      ...{ lamports: 3n, data: key(4), writeVersion: 5n, signature: key(6), expected: 'mint' },
    },
    '010101020100000000000001000000000000f03f04000000010101010400000002020202030000000000000004' +
      '000000040404040500000000000000040000000606060603',
  ],
  [
    {
      ...{ kind: 'transaction', source: 'stream', slot: 258n, blockTime: null, signature: key(1), index: 2 },
      ...{ order: 3, format: 'json', payload: key(4) },
    },
    '010200020100000000000000040000000101010101000000000000004003000000000000000104000000040404' + '04',
  ],
  [
    {
      ...{ kind: 'transaction', source: 'rpc', slot: 258n, blockTime: null, signature: key(1), index: 2 },
      ...{ order: 3, format: 'json', payload: key(4), standing: 'decides' },
    },
    '010201020100000000000000040000000101010101000000000000004003000000000000000104000000040404' + '0401',
  ],
  [
    { kind: 'marker', slot: 258n, parent: 257n, blockTime: 1 },
    '01030201000000000000010100000000000001000000000000f03f',
  ],
  [
    { kind: 'gap', fromSlot: 1n, toSlot: 2n, toTime: null, closed: true },
    '0104010000000000000002000000000000000001',
  ],
  [
    {
      ...{ kind: 'gap', fromSlot: 1n, toSlot: 2n, toTime: 3, closed: false },
      ...{ before: 'b', obstacle: { type: 'unread', signature: 'u' } },
    },
    '010401000000000000000200000000000000010000000000000840000100000062010000007500',
  ],
  [
    {
      ...{ kind: 'gap', fromSlot: 1n, toSlot: 2n, toTime: 3, closed: false },
      ...{ before: null, obstacle: { type: 'pruned', firstSlot: 9n } },
    },
    '010401000000000000000200000000000000010000000000000840000000000000000000010900000000000000',
  ],
  [
    { kind: 'reading', readAt: 7, reading: { type: 'currencies', items: [] } },
    '0105010000000000001c40200000007b2274797065223a2263757272656e63696573222c226974656d73223a5b' + '5d7d',
  ],
  [
    {
      ...{ kind: 'dead-letter', source: 'poll', what: 'w', where: 'a', reason: 'r', slot: null },
      ...{ bytes: key(8) },
    },
    '010602010000007701000000610100000072000400000008080808',
  ],
  [
    { kind: 'recompute', partition: 1, mints: ['m'], slots: [5n] },
    '01072b0000007b22706172746974696f6e223a312c226d696e7473223a5b226d225d2c22736c6f7473223a5b22' + '35225d7d',
  ],
  [
    { kind: 'profit', signature: key(9), policy: 'p', profit: 5n },
    '010a04000000090909090100000070' + '0500000000000000',
  ],
  [
    { kind: 'time', address: key(9), slot: 5n, blockTime: 3 },
    '010b04000000090909090500000000000000010000000000000840',
  ],
  [
    { kind: 'carried', address: key(9), slot: 5n, blockTime: null, carried: true },
    '010c04000000090909090500000000000000' + '0001',
  ],
  [{ kind: 'unseen', address: key(9), slot: 5n }, '010d04000000090909090500000000000000'],
  [
    {
      ...{ kind: 'verified', slot: 6n },
      ...{ struck: [{ signature: 's', slot: 7n, policies: ['p'], events: [] }] },
    },
    '010806000000000000003b0000005b7b227369676e6174757265223a2273222c22736c6f74223a2237222c2270' +
      '6f6c6963696573223a5b2270225d2c226576656e7473223a5b5d7d5d',
  ],
];

/** Bytes of a record as plain lists, so that a view of a buffer equals what it shows. */
const plain = (record: LogRecord) =>
  Object.fromEntries(
    Object.entries(record).map(([name, field]) => [name, field instanceof Uint8Array ? [...field] : field]),
  );

test.each(WRITTEN)(
  'a record of version 1 encodes to the bytes of the first version and decodes from them (case %#)',
  (record, hex) => {
    expect(encodeRecord(record).toString('hex')).toBe(hex);
    expect(plain(decodeRecord(Buffer.from(hex, 'hex')))).toEqual(plain(record));
  },
);
