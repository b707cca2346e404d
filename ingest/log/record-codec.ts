import type {
  AccountRecord,
  DeadLetterRecord,
  ExpectedAccount,
  GapObstacle,
  GapRecord,
  LogRecord,
  MarkerRecord,
  PartRecord,
  Reading,
  ReadingRecord,
  RecomputeRecord,
  Source,
  StruckTransaction,
  TransactionRecord,
  VerifiedRecord,
} from '../../schemas/records.ts';
import { type ByteReader, type ByteWriter, createByteReader, createByteWriter } from './bytes.ts';
import { recordBytes } from './size.ts';

/** More than any account or transaction has. */
export const MOST_PARTS = 64;

/** First byte of every record. A reader of a later version goes on reading this one: the log is the history. */
const VERSION = 1;

/** Bytes that are no record of a version that is known. */
export class UnreadableRecordError extends Error {
  override name = 'UnreadableRecordError';
}

interface Codec<T extends LogRecord> {
  /** Second byte; never given to another kind. */
  tag: number;
  write(record: T, to: ByteWriter): void;
  read(from: ByteReader): T;
}

type Codecs = { [K in LogRecord['kind']]: Codec<Extract<LogRecord, { kind: K }>> };

// Places in these lists are on the wire: append only.
const SOURCES = ['stream', 'rpc', 'poll'] as const;
const EXPECTED: readonly (ExpectedAccount | null)[] = [
  null,
  'program',
  'token_account',
  'mint',
  'metadata',
  'pool',
  'curve_config',
];
const FORMATS = ['geyser', 'json'] as const;

function place<T>(list: readonly T[], value: T): number {
  const at = list.indexOf(value);
  if (at === -1) throw new RangeError(`${String(value)} has no place on the wire`);
  return at;
}

function at<T>(list: readonly T[], index: number): T {
  if (index >= list.length) throw new RangeError(`no value ${index}`);
  return list[index] as T;
}

const optionalBytes = (from: ByteReader) => {
  const bytes = from.bytes();
  return bytes.length === 0 ? null : bytes;
};

const account: Codec<AccountRecord> = {
  tag: 1,
  write: (record, to) => {
    to.u8(place(SOURCES, record.source));
    to.u64(record.slot);
    to.optionalNumber(record.blockTime);
    to.bytes(record.address);
    to.bytes(record.owner);
    to.u64(record.lamports);
    to.bytes(record.data);
    to.u64(record.writeVersion);
    to.bytes(record.signature ?? new Uint8Array(0));
    to.u8(place(EXPECTED, record.expected));
  },
  read: (from) => ({
    kind: 'account',
    source: at(SOURCES, from.u8()) as Source,
    slot: from.u64(),
    blockTime: from.optionalNumber(),
    address: from.bytes(),
    owner: from.bytes(),
    lamports: from.u64(),
    data: from.bytes(),
    writeVersion: from.u64(),
    signature: optionalBytes(from),
    expected: at(EXPECTED, from.u8()),
  }),
};

const transaction: Codec<TransactionRecord> = {
  tag: 2,
  write: (record, to) => {
    to.u8(place(SOURCES, record.source));
    to.u64(record.slot);
    to.optionalNumber(record.blockTime);
    to.bytes(record.signature);
    to.optionalNumber(record.index);
    to.u64(BigInt(record.order));
    to.u8(place(FORMATS, record.format));
    to.bytes(record.payload);
  },
  read: (from) => ({
    kind: 'transaction',
    source: at(SOURCES, from.u8()) as Source,
    slot: from.u64(),
    blockTime: from.optionalNumber(),
    signature: from.bytes(),
    index: from.optionalNumber(),
    order: Number(from.u64()),
    format: at(FORMATS, from.u8()),
    payload: from.bytes(),
  }),
};

const marker: Codec<MarkerRecord> = {
  tag: 3,
  write: (record, to) => {
    to.u64(record.slot);
    to.u64(record.parent);
    to.optionalNumber(record.blockTime);
  },
  read: (from) => ({
    kind: 'marker',
    slot: from.u64(),
    parent: from.u64(),
    blockTime: from.optionalNumber(),
  }),
};

const gap: Codec<GapRecord> = {
  tag: 4,
  write: (record, to) => {
    to.u64(record.fromSlot);
    to.u64(record.toSlot);
    to.optionalNumber(record.toTime);
    to.u8(Number(record.closed));
    const { before = null, obstacle = null } = record;
    if (before === null && obstacle === null) return;
    to.text(before ?? '');
    to.text(obstacle?.type === 'unread' ? obstacle.signature : '');
    to.optionalU64(obstacle?.type === 'pruned' ? obstacle.firstSlot : null);
  },
  read: (from) => {
    const record: GapRecord = {
      kind: 'gap',
      fromSlot: from.u64(),
      toSlot: from.u64(),
      toTime: from.optionalNumber(),
      closed: from.u8() === 1,
    };
    // What was written before there were places ends here.
    if (from.ended()) return record;
    const [before, unread, firstSlot] = [from.text(), from.text(), from.optionalU64()];
    return {
      ...record,
      before: before === '' ? null : before,
      obstacle: obstacleOf(unread === '' ? null : unread, firstSlot),
    };
  },
};

function obstacleOf(unread: string | null, firstSlot: bigint | null): GapObstacle | null {
  if (unread !== null) return { type: 'unread', signature: unread };
  return firstSlot === null ? null : { type: 'pruned', firstSlot };
}

const reading: Codec<ReadingRecord> = {
  tag: 5,
  write: (record, to) => {
    to.optionalNumber(record.readAt);
    to.text(JSON.stringify(record.reading));
  },
  read: (from) => ({
    kind: 'reading',
    readAt: from.optionalNumber() ?? 0,
    reading: JSON.parse(from.text()) as Reading,
  }),
};

const deadLetter: Codec<DeadLetterRecord> = {
  tag: 6,
  write: (record, to) => {
    to.u8(place(SOURCES, record.source));
    to.text(record.what);
    to.text(record.where);
    to.text(record.reason);
    to.optionalU64(record.slot);
    to.bytes(record.bytes);
  },
  read: (from) => ({
    kind: 'dead-letter',
    source: at(SOURCES, from.u8()),
    what: from.text(),
    where: from.text(),
    reason: from.text(),
    slot: from.optionalU64(),
    bytes: from.bytes(),
  }),
};

const recompute: Codec<RecomputeRecord> = {
  tag: 7,
  write: ({ partition, mints, slots }, to) =>
    to.text(JSON.stringify({ partition, mints, slots: slots.map(String) })),
  read: (from) => {
    const { partition, mints, slots } = JSON.parse(from.text());
    return { kind: 'recompute', partition, mints, slots: slots.map(BigInt) };
  },
};

const verified: Codec<VerifiedRecord> = {
  tag: 8,
  write: ({ slot, struck }, to) => {
    to.u64(slot);
    to.text(JSON.stringify(struck.map((one) => ({ ...one, slot: one.slot.toString() }))));
  },
  read: (from) => ({
    kind: 'verified',
    slot: from.u64(),
    struck: (JSON.parse(from.text()) as (Omit<StruckTransaction, 'slot'> & { slot: string })[]).map(
      (one) => ({
        ...one,
        slot: BigInt(one.slot),
      }),
    ),
  }),
};

const PARTS_OF = ['account', 'transaction'] as const;

const part: Codec<PartRecord> = {
  tag: 9,
  write: (record, to) => {
    to.u8(place(PARTS_OF, record.of));
    to.bytes(record.key);
    to.bytes(record.hash);
    to.u64(BigInt(record.at));
    to.u64(BigInt(record.count));
    to.bytes(record.bytes);
  },
  read: (from) => {
    const record: PartRecord = {
      kind: 'part',
      of: at(PARTS_OF, from.u8()),
      key: from.bytes(),
      hash: from.bytes(),
      at: Number(from.u64()),
      count: Number(from.u64()),
      bytes: from.bytes(),
    };
    if (record.at >= record.count || record.count > MOST_PARTS)
      throw new RangeError(`part ${record.at} of ${record.count}`);
    return record;
  },
};

const CODECS: Codecs = {
  account,
  transaction,
  marker,
  gap,
  reading,
  recompute,
  verified,
  part,
  'dead-letter': deadLetter,
};
const BY_TAG = new Map(Object.values(CODECS).map((codec) => [codec.tag, codec]));

/** A record as the bytes that the log carries. */
export function encodeRecord(record: LogRecord): Buffer {
  const writer = createByteWriter(recordBytes(record) + 128);
  // The kind picks the codec of its own type, which the compiler cannot follow through the map.
  const codec = CODECS[record.kind] as Codec<LogRecord>;
  writer.u8(VERSION);
  writer.u8(codec.tag);
  codec.write(record, writer);
  return writer.finish();
}

/** @throws UnreadableRecordError */
export function decodeRecord(bytes: Uint8Array): LogRecord {
  if (bytes[0] !== VERSION) throw new UnreadableRecordError(`a record of version ${bytes[0]}`);
  const codec = BY_TAG.get(bytes[1] as number);
  if (codec === undefined) throw new UnreadableRecordError(`a record of kind ${bytes[1]}`);
  try {
    const from = createByteReader(bytes.subarray(2));
    const record = codec.read(from);
    from.end();
    return record;
  } catch (cause) {
    throw new UnreadableRecordError(`kind ${bytes[1]}: ${(cause as Error).message}`, { cause });
  }
}
