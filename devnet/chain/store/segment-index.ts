import { byteKey } from '../../../schemas/solana/byte-key.ts';
import { bytesOf } from '../../program/state/keys.ts';
import type { Key } from '../../program/state/state.ts';
import type { ChainIndex } from '../chain-index.ts';
import type { BlockTable, Segment } from './block-table.ts';

/** A chunk of the ledger's bytes: `place` is where it begins in the ledger, `at` where it stands in the archive. */
export interface Chunk {
  place: number;
  at: number;
}

/** Blocks and chunks of a segment, in memory while they are being asked for. */
export interface Tables extends BlockTable {
  chunkPlaces: Float64Array;
  chunkAts: Float64Array;
}

/** Bytes of the archive. */
export type ReadBytes = (at: number, size: number) => Buffer;

/** Size of the table in front of sorted entries: for each first byte, how many entries begin with a lesser one. */
const FAN_BYTES = 257 * 4;
const PREFIX_BYTES = 8;
const SIGNATURE_BYTES = PREFIX_BYTES + 4;
const KEY_BYTES = 32;
const ADDRESS_BYTES = KEY_BYTES + 8;

/** Where each part of a segment's index begins. */
function partsOf({ at, blocks, txs, keys, chunks }: Omit<Segment, 'end'>) {
  const signatureFan = at;
  const addressFan = signatureFan + FAN_BYTES;
  const signatures = addressFan + FAN_BYTES;
  const addresses = signatures + txs * SIGNATURE_BYTES;
  const tables = addresses + keys * ADDRESS_BYTES;
  const tablesSize = blocks * (8 + 8 + 4) + chunks * (8 + 8) + Math.ceil(txs / 8);
  return { signatureFan, addressFan, signatures, addresses, tables, tablesSize, lists: tables + tablesSize };
}

const bytesIn = ({ buffer }: Float64Array | Uint32Array) => Buffer.from(buffer as ArrayBuffer);

/** For each first byte, how many entries begin with a lesser one. @param sorted the entries */
function fanOf(sorted: readonly string[]): Buffer {
  const counts = new Uint32Array(257);
  for (const bytes of sorted) counts[bytes.charCodeAt(0) + 1] = (counts[bytes.charCodeAt(0) + 1] ?? 0) + 1;
  for (let byte = 1; byte < counts.length; byte += 1)
    counts[byte] = (counts[byte] as number) + (counts[byte - 1] as number);
  return bytesIn(counts);
}

/** Writes ascending numbers as their differences, seven bits a byte. @returns the offset in `into` behind them */
function writeList(list: readonly number[], into: Buffer, from: number): number {
  let at = from;
  let before = 0;
  for (const number of list) {
    let rest = number - before;
    before = number;
    for (; rest > 127; rest >>>= 7) {
      into[at] = (rest & 127) | 128;
      at += 1;
    }
    into[at] = rest;
    at += 1;
  }
  return at;
}

function readList(bytes: Buffer): number[] {
  const list: number[] = [];
  let number = 0;
  let shift = 0;
  let difference = 0;
  for (const byte of bytes) {
    difference |= (byte & 127) << shift;
    shift += 7;
    if (byte > 127) continue;
    number += difference;
    list.push(number);
    difference = 0;
    shift = 0;
  }
  return list;
}

const compare = (left: string, right: string) => (left < right ? -1 : left > right ? 1 : 0);

function signaturePart(index: ChainIndex): Buffer[] {
  const sorted = [...index.signatures()]
    .map((signature, tx) => [signature, tx] as const)
    .sort(([left], [right]) => compare(left, right));
  const entries = Buffer.alloc(sorted.length * SIGNATURE_BYTES);
  for (const [place, [signature, tx]] of sorted.entries()) {
    entries.write(signature.slice(0, PREFIX_BYTES), place * SIGNATURE_BYTES, 'latin1');
    entries.writeUInt32LE(tx, place * SIGNATURE_BYTES + PREFIX_BYTES);
  }
  return [fanOf(sorted.map(([signature]) => signature)), entries];
}

function addressPart(index: ChainIndex): [fan: Buffer, entries: Buffer, lists: Buffer] {
  const sorted = [...index.addresses()]
    .map(([key, list]) => [byteKey(bytesOf(key)), list] as const)
    .sort(([left], [right]) => compare(left, right));
  const entries = Buffer.alloc(sorted.length * ADDRESS_BYTES);
  const lists = Buffer.alloc(sorted.reduce((sum, [, list]) => sum + list.length, 0) * 5);
  let end = 0;
  for (const [place, [key, list]] of sorted.entries()) {
    const at = place * ADDRESS_BYTES;
    const from = end;
    end = writeList(list, lists, from);
    entries.write(key, at, 'latin1');
    entries.writeUInt32LE(from, at + KEY_BYTES);
    entries.writeUInt32LE(end - from, at + KEY_BYTES + 4);
  }
  return [fanOf(sorted.map(([key]) => key)), entries, lists.subarray(0, end)];
}

function failedPart(index: ChainIndex): Buffer {
  const bits = Buffer.alloc(Math.ceil(index.txs() / 8));
  for (let tx = 0; tx < index.txs(); tx += 1)
    if (index.table.isFailed(tx)) bits[tx >> 3] = (bits[tx >> 3] as number) | (1 << (tx & 7));
  return bits;
}

/** Encodes the index of a stretch whose records are in `chunks`, to be written at `at` in the archive. */
export function encodeSegment(
  index: ChainIndex,
  { chunks, at, to }: { chunks: readonly Chunk[]; at: number; to: number },
): { segment: Segment; bytes: Buffer } {
  const { slots, places, before } = index.table;
  const [addressFan, addresses, lists] = addressPart(index);
  const [signatureFan, signatures] = signaturePart(index) as [Buffer, Buffer];
  const numbers = (list: ArrayLike<number>) => bytesIn(Float64Array.from(list));
  const bytes = Buffer.concat([
    ...[signatureFan, addressFan, signatures, addresses, numbers(slots), numbers(places)],
    ...[numbers(chunks.map(({ place }) => place)), numbers(chunks.map((chunk) => chunk.at))],
    ...[bytesIn(Uint32Array.from(before)), failedPart(index), lists],
  ]);
  const segment = {
    ...{ at, end: at + bytes.length, to, blocks: slots.length, txs: index.txs(), chunks: chunks.length },
    ...{ first: slots[0] as number, last: slots[slots.length - 1] as number },
    keys: addresses.length / ADDRESS_BYTES,
  };
  return { segment, bytes };
}

export function readTables(segment: Segment, read: ReadBytes): Tables {
  const { blocks, chunks, txs } = segment;
  const { tables, tablesSize } = partsOf(segment);
  const bytes = Uint8Array.from(read(tables, tablesSize)).buffer;
  const numbers = (from: number, length: number) => new Float64Array(bytes, from * 8, length);
  const failed = new Uint8Array(bytes, (2 * blocks + 2 * chunks) * 8 + blocks * 4, Math.ceil(txs / 8));
  return {
    slots: numbers(0, blocks),
    places: numbers(blocks, blocks),
    chunkPlaces: numbers(2 * blocks, chunks),
    chunkAts: numbers(2 * blocks + chunks, chunks),
    before: new Uint32Array(bytes, (2 * blocks + 2 * chunks) * 8, blocks),
    isFailed: (tx) => (((failed[tx >> 3] ?? 0) >> (tx & 7)) & 1) === 1,
  };
}

/** The entries of a sorted part that begin with a byte. */
function bucket(byte: number, where: { fan: number; entries: number; size: number }, read: ReadBytes) {
  const fan = read(where.fan + byte * 4, 8);
  const from = fan.readUInt32LE(0);
  return read(where.entries + from * where.size, (fan.readUInt32LE(4) - from) * where.size);
}

/** The offsets of the entries, each of `size` bytes, that begin with `wanted`. */
function* beginningWith(bytes: Buffer, wanted: Uint8Array, size: number): Generator<number> {
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1))
    if (at % size === 0) yield at;
}

/** The transactions of a segment whose signature may be this one: it begins with the same bytes. */
export function candidatesFor(segment: Segment, signature: Uint8Array, read: ReadBytes): number[] {
  const { signatureFan: fan, signatures: entries } = partsOf(segment);
  const bytes = bucket(signature[0] as number, { fan, entries, size: SIGNATURE_BYTES }, read);
  return [...beginningWith(bytes, signature.subarray(0, PREFIX_BYTES), SIGNATURE_BYTES)].map((at) =>
    bytes.readUInt32LE(at + PREFIX_BYTES),
  );
}

/** The transactions of a segment that name an address, ascending. */
export function transactionsNaming(segment: Segment, address: Key, read: ReadBytes): number[] {
  const { addressFan: fan, addresses: entries, lists } = partsOf(segment);
  const wanted = bytesOf(address);
  const bytes = bucket(wanted[0] as number, { fan, entries, size: ADDRESS_BYTES }, read);
  for (const at of beginningWith(bytes, wanted, ADDRESS_BYTES)) {
    const [from, size] = [bytes.readUInt32LE(at + KEY_BYTES), bytes.readUInt32LE(at + KEY_BYTES + 4)];
    return readList(read(lists + from, size));
  }
  return [];
}
