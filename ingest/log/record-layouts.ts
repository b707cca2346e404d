import type { Reading } from '../../schemas/readings.ts';
import type {
  AccountRecord,
  CarriedRecord,
  DeadLetterRecord,
  ExpectedAccount,
  GapRecord,
  LogRecord,
  MarkerRecord,
  PartRecord,
  ProfitRecord,
  ReadingRecord,
  RecomputeRecord,
  Source,
  StruckTransaction,
  TimeRecord,
  TransactionRecord,
  UnseenRecord,
  VerifiedRecord,
} from '../../schemas/records.ts';
import type { ByteReader, ByteWriter } from './bytes.ts';
import { obstacleOf, partsOf } from './gap-obstacle.ts';
import { knownReading } from './reading-shapes.ts';
import {
  bytes,
  bytesOrNull,
  clock,
  count,
  flag,
  json,
  numberOrNull,
  oneOf,
  text,
  textOrNull,
  u64,
  u64OrNull,
  type WireField,
} from './wire-fields.ts';

type RecordOf<K extends LogRecord['kind']> = Extract<LogRecord, { kind: K }>;

export interface Layout<R> {
  /** Second byte of a record; never given to another kind. */
  tag: number;
  write(record: R, to: ByteWriter): void;
  read(from: ByteReader): R;
}

/** The fields of a kind, in the order in which they lie on the wire. */
type Fields<R> = { [K in Exclude<keyof R, 'kind'>]: WireField<R[K]> };

function layout<R extends { kind: LogRecord['kind'] }>(
  kind: R['kind'],
  tag: number,
  fields: Fields<R>,
): Layout<R> {
  const list = Object.entries<WireField<unknown>>(fields);
  return {
    tag,
    write: (record, to) => {
      for (const [name, field] of list) field.write(record[name as keyof R], to);
    },
    read: (from) => {
      const record: Record<string, unknown> = { kind };
      for (const [name, field] of list) record[name] = field.read(from);
      return record as R;
    },
  };
}

const SOURCES: readonly Source[] = ['stream', 'rpc'];
const EXPECTED: readonly (ExpectedAccount | null)[] = [
  null,
  'program',
  'token_account',
  'mint',
  'metadata',
  'pool',
  'curve_config',
];

const plainGap = layout<Omit<GapRecord, 'before' | 'obstacle'>>('gap', 4, {
  fromSlot: u64,
  toSlot: u64,
  toTime: numberOrNull,
  closed: flag,
});

/** The fields that a kind of record was given later; on the wire they follow those that it began with. */
interface Tail<R> {
  has(record: R): boolean;
  write(record: R, to: ByteWriter): void;
  read(from: ByteReader): Partial<R>;
}

/** A layout with a tail. A record from before the tail existed, or with nothing to say in it, ends in front of it. */
const extended = <Plain, R extends Plain>(plain: Layout<Plain>, tail: Tail<R>): Layout<R> => ({
  tag: plain.tag,
  write: (record, to) => {
    plain.write(record, to);
    if (tail.has(record)) tail.write(record, to);
  },
  read: (from) => {
    const record = plain.read(from) as R;
    return from.ended() ? record : { ...record, ...tail.read(from) };
  },
});

const gap = extended<Omit<GapRecord, 'before' | 'obstacle'>, GapRecord>(plainGap, {
  has: ({ before = null, obstacle = null }) => before !== null || obstacle !== null,
  write: ({ before = null, obstacle = null }, to) => {
    const { unread, firstSlot } = partsOf(obstacle);
    textOrNull.write(before, to);
    textOrNull.write(unread, to);
    u64OrNull.write(firstSlot, to);
  },
  read: (from) => {
    const before = textOrNull.read(from);
    const obstacle = obstacleOf({ unread: textOrNull.read(from), firstSlot: u64OrNull.read(from) });
    return { before, obstacle };
  },
});

const plainMarker = layout<Omit<MarkerRecord, 'followed' | 'missed'>>('marker', 3, {
  slot: u64,
  parent: u64,
  blockTime: numberOrNull,
});

const marker = extended<Omit<MarkerRecord, 'followed' | 'missed'>, MarkerRecord>(plainMarker, {
  has: ({ followed, missed }) => followed !== undefined || missed !== undefined,
  write: ({ followed, missed }, to) => {
    u64OrNull.write(followed?.slot ?? null, to);
    numberOrNull.write(followed?.blockTime ?? null, to);
    u64OrNull.write(missed?.after ?? null, to);
    u64OrNull.write(missed?.to ?? null, to);
  },
  read: (from) => {
    const [slot, blockTime] = [u64OrNull.read(from), numberOrNull.read(from)];
    const [after, to] = [u64OrNull.read(from), u64OrNull.read(from)];
    return {
      ...(slot === null ? {} : { followed: { slot, blockTime } }),
      ...(after === null || to === null ? {} : { missed: { after, to } }),
    };
  },
});

const plainTransaction = layout<Omit<TransactionRecord, 'standing'>>('transaction', 2, {
  source: oneOf(SOURCES),
  slot: u64,
  blockTime: numberOrNull,
  signature: bytes,
  index: numberOrNull,
  order: count,
  format: oneOf(['geyser', 'json'] as const),
  payload: bytes,
});

const STANDINGS = oneOf(['disputed', 'decides'] as const);

const transaction = extended<Omit<TransactionRecord, 'standing'>, TransactionRecord>(plainTransaction, {
  has: ({ standing }) => standing !== undefined,
  write: ({ standing }, to) => {
    if (standing !== undefined) STANDINGS.write(standing, to);
  },
  read: (from) => ({ standing: STANDINGS.read(from) }),
});

const recompute = json<RecomputeRecord, Omit<RecomputeRecord, 'kind' | 'slots'> & { slots: string[] }>({
  of: ({ partition, mints, slots }) => ({ partition, mints, slots: slots.map(String) }),
  back: ({ partition, mints, slots }) => ({ kind: 'recompute', partition, mints, slots: slots.map(BigInt) }),
});

const struck = json<StruckTransaction[], (Omit<StruckTransaction, 'slot'> & { slot: string })[]>({
  of: (list) => list.map((one) => ({ ...one, slot: one.slot.toString() })),
  back: (list) => list.map((one) => ({ ...one, slot: BigInt(one.slot) })),
});

const seconds: WireField<number> = clock;

/** How each kind of record lies on the wire. */
export const LAYOUTS: { [K in LogRecord['kind']]: Layout<RecordOf<K>> } = {
  account: layout<AccountRecord>('account', 1, {
    source: oneOf(SOURCES),
    slot: u64,
    blockTime: numberOrNull,
    address: bytes,
    owner: bytes,
    lamports: u64,
    data: bytes,
    writeVersion: u64,
    signature: bytesOrNull,
    expected: oneOf(EXPECTED),
  }),
  transaction,
  marker,
  gap,
  reading: layout<ReadingRecord>('reading', 5, {
    readAt: clock,
    reading: json<Reading>({ of: (reading) => reading, back: knownReading }),
  }),
  'dead-letter': layout<DeadLetterRecord>('dead-letter', 6, {
    source: oneOf([...SOURCES, 'poll'] as const),
    what: text,
    where: text,
    reason: text,
    slot: u64OrNull,
    bytes,
  }),
  recompute: { tag: 7, ...recompute },
  verified: layout<VerifiedRecord>('verified', 8, { slot: u64, struck }),
  part: layout<PartRecord>('part', 9, {
    of: oneOf(['account', 'transaction', 'reading'] as const),
    ...{ key: bytes, hash: bytes, at: count, count, bytes },
  }),
  profit: layout<ProfitRecord>('profit', 10, { signature: bytes, policy: text, profit: u64 }),
  time: layout<TimeRecord>('time', 11, { address: bytes, slot: u64, blockTime: seconds }),
  carried: layout<CarriedRecord>('carried', 12, {
    ...{ address: bytes, slot: u64, blockTime: numberOrNull },
    carried: flag,
  }),
  unseen: layout<UnseenRecord>('unseen', 13, { address: bytes, slot: u64 }),
};
