import type {
  AccountRecord,
  GapRecord,
  LogRecord,
  MarkerRecord,
  TransactionRecord,
} from '../../../schemas/records.ts';

const key = (name: number, size: number) => {
  const bytes = new Uint8Array(size);
  new DataView(bytes.buffer).setUint32(0, name, true);
  return bytes;
};

export const accountRecord = (slot: bigint, name: number, data = new Uint8Array(50)): AccountRecord => ({
  kind: 'account',
  source: 'stream',
  slot,
  blockTime: Number(slot),
  address: key(name, 32),
  owner: new Uint8Array(32),
  lamports: 1n,
  data,
  writeVersion: slot,
  signature: null,
  expected: null,
});

export const transactionRecord = (slot: bigint, name: number): TransactionRecord => ({
  kind: 'transaction',
  source: 'stream',
  slot,
  blockTime: Number(slot),
  signature: key(name, 64),
  index: name,
  order: 0,
  format: 'geyser',
  payload: new Uint8Array(100),
});

export const markerRecord = (slot: bigint): MarkerRecord => ({
  kind: 'marker',
  slot,
  parent: slot - 1n,
  blockTime: Number(slot),
});

export const gapRecord = (fromSlot: bigint, toSlot: bigint, closed = false): GapRecord => ({
  kind: 'gap',
  fromSlot,
  toSlot,
  toTime: null,
  closed,
});

/** A short name of a record, to compare sequences by. */
export const nameOf = (record: LogRecord): string => {
  if (record.kind === 'marker') return `marker ${record.slot}`;
  if (record.kind === 'gap') return `gap ${record.fromSlot}`;
  if (record.kind === 'account') return `account ${Buffer.from(record.address).readUInt32LE()}`;
  return record.kind === 'transaction'
    ? `transaction ${Buffer.from(record.signature).readUInt32LE()}`
    : record.kind;
};
