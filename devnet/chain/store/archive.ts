import { closeSync, existsSync, fstatSync, fsync, fsyncSync, openSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { constants, type ZstdOptions, zstdDecompressSync } from 'node:zlib';
import type { Key } from '../../program/state/state.ts';
import type { BlockRecord } from '../block-record.ts';
import type { ChainIndex } from '../chain-index.ts';
import { REMOVE_IT, readAt, recordIn, writeAt } from '../storage.ts';
import { signatureAt } from '../transactions.ts';
import {
  countBelow,
  type Listed,
  newest,
  type Position,
  placeOf,
  positionOf,
  type Segment,
} from './block-table.ts';
import { keepSome } from './keep-some.ts';
import {
  type Chunk,
  candidatesFor,
  encodeSegment,
  type ReadBytes,
  readTables,
  type Tables,
  transactionsNaming,
} from './segment-index.ts';

/** The archived part of a ledger, in a file: segments of compressed chunks of records, each followed by its index. */
export interface Archive {
  /** The segments that count. Bytes behind them in the file were left by a killed process, and are written over. */
  segments: readonly Segment[];
  /**
   * Writes a stretch of the ledger as a segment behind the others: yields each chunk, and is given it back compressed.
   * The segment counts once `takeIn` is called with it.
   */
  write(index: ChainIndex, stretch: Stretch): Generator<Unpacked, Segment, Buffer>;
  takeIn(segment: Segment): void;
  /** Flushes the file to the disk itself, so that no segment counts whose bytes a loss of power would take. */
  sync(): Promise<void>;
  syncNow(): void;
  record(slot: bigint): BlockRecord | null;
  find(signature: Uint8Array): Position | null;
  /** The transactions that name an address and are older than `before`, newest first. */
  of(address: Key, before: Position | null, limit: number): Listed[];
  /** Oldest first, without the first `skipped` records. */
  records(skipped: number): Iterable<BlockRecord>;
  close(): void;
}

/** Bytes of the ledger, from the first record of an index up to `to`. */
export interface Stretch {
  to: number;
  slice(from: number, to: number): Buffer;
}

/** A chunk before compression, with the options to compress it. */
export interface Unpacked {
  bytes: Buffer;
  options: ZstdOptions;
}

/** Bytes that are compressed together, and decompressed together for each record that is looked up among them. */
const CHUNK_BYTES = 1 << 18;
/**
 * Bytes in the first chunk of a segment, which is the dictionary of the others: blocks repeat each other, and 256 kB
 * compressed without a dictionary are twice as large.
 */
const WORDS_BYTES = 1 << 20;
/** How far back, as a power of two, the compressor finds repetitions: over dictionary and chunk together. */
const WINDOW_LOG = 22;
const LEVEL = 6;
const WORDS_KEPT = 8;
const CHUNKS_KEPT = 16;
const TABLES_KEPT = 16;

const optionsOf = (words: Buffer | null): ZstdOptions => ({
  params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_windowLog]: WINDOW_LOG },
  ...(words !== null && { dictionary: words }),
});

const toDisk = promisify(fsync);

/** @throws RangeError where the file is shorter than the `counted` segments */
export function openArchive(dir: string, seed: string, counted: readonly Segment[]): Archive {
  const where = path.join(dir, 'archive.bin');
  const file = openSync(where, existsSync(where) ? 'r+' : 'w+');
  const segments = [...counted];
  const read: ReadBytes = (at, size) => {
    const bytes = readAt(file, size, at);
    if (bytes === null) throw new RangeError(`${where} ends before byte ${at + size}`);
    return bytes;
  };
  const end = () => segments.at(-1)?.end ?? 0;
  if (fstatSync(file).size < end()) {
    closeSync(file);
    throw new RangeError(
      `${dir} is not whole, archive.bin ends before what ledger.bin beside it names: ${REMOVE_IT}`,
    );
  }
  const tablesKept = keepSome<Tables>(TABLES_KEPT);
  const chunksKept = keepSome<Buffer>(CHUNKS_KEPT);
  const wordsKept = keepSome<Buffer>(WORDS_KEPT);
  const tablesOf = (segment: Segment) => tablesKept(segment.at, () => readTables(segment, read));

  const unpacked = ({ at: end, chunkAts }: Segment & Tables, chunk: number, words?: Buffer) => {
    const at = chunkAts[chunk] as number;
    const packed = read(at, (chunkAts[chunk + 1] ?? end) - at);
    return zstdDecompressSync(packed, { chunkSize: CHUNK_BYTES, ...(words && { dictionary: words }) });
  };
  const chunkOf = (segment: Segment, chunk: number): Buffer => {
    const tables = { ...tablesOf(segment), ...segment };
    const words = wordsKept(segment.at, () => unpacked(tables, 0));
    if (chunk === 0) return words;
    return chunksKept(tables.chunkAts[chunk] as number, () => unpacked(tables, chunk, words));
  };
  const recordAt = (segment: Segment, place: number): BlockRecord => {
    const { chunkPlaces } = tablesOf(segment);
    const chunk = countBelow(chunkPlaces, place + 1) - 1;
    return recordIn(chunkOf(segment, chunk), place - (chunkPlaces[chunk] as number)) as BlockRecord;
  };
  const segmentOf = (slot: number): Segment | null => {
    let low = 0;
    let high = segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((segments[middle] as Segment).last < slot) low = middle + 1;
      else high = middle;
    }
    return segments[low] ?? null;
  };
  /** Where a transaction was found last: the next one asked for is often a neighbour. */
  let foundLast: Segment | null = null;
  const findIn = (segment: Segment, signature: Uint8Array): Position | null => {
    for (const tx of candidatesFor(segment, signature, read)) {
      const position = positionOf(tablesOf(segment), tx);
      const { slot, index } = position;
      if (Buffer.compare(signatureAt(seed, slot, index), signature) === 0) return position;
    }
    return null;
  };

  return {
    segments,
    *write(index, { to, slice }) {
      const { places } = index.table;
      const chunks: Chunk[] = [];
      let at = end();
      let words: Buffer | null = null;
      for (let first = 0; first < places.length; ) {
        const place = places[first] as number;
        const most = words === null ? WORDS_BYTES : CHUNK_BYTES;
        // Whole records: all that begin within `most` bytes.
        const next = Math.max(first + 1, countBelow(places, place + most));
        const bytes = slice(place, places[next] ?? to);
        const packed = yield { bytes, options: optionsOf(words) };
        words ??= bytes;
        writeAt(file, packed, at);
        chunks.push({ place, at });
        at += packed.length;
        first = next;
      }
      const { segment, bytes } = encodeSegment(index, { chunks, at, to });
      writeAt(file, bytes, at);
      return segment;
    },
    takeIn: (segment) => {
      segments.push(segment);
    },
    sync: () => toDisk(file),
    syncNow: () => fsyncSync(file),
    record: (slot) => {
      const segment = segmentOf(Number(slot));
      const place = segment === null ? null : placeOf(tablesOf(segment), slot);
      return segment === null || place === null ? null : recordAt(segment, place);
    },
    find: (signature) => {
      if (signature.length !== 64) return null;
      const last = foundLast === null ? null : findIn(foundLast, signature);
      if (last !== null) return last;
      for (const segment of segments.toReversed()) {
        const found = findIn(segment, signature);
        if (found === null) continue;
        foundLast = segment;
        return found;
      }
      return null;
    },
    of: (address, before, limit) => {
      const found: Listed[] = [];
      for (const segment of segments.toReversed()) {
        if (found.length === limit) break;
        if (before !== null && segment.first > Number(before.slot)) continue;
        const list = transactionsNaming(segment, address, read);
        if (list.length === 0) continue;
        const wanted = { before, limit: limit - found.length, txs: segment.txs };
        for (const one of newest(tablesOf(segment), list, wanted)) found.push(one);
      }
      return found;
    },
    *records(skipped) {
      let rest = skipped;
      for (const segment of [...segments]) {
        const { places } = tablesOf(segment);
        for (let block = rest; block < segment.blocks; block += 1)
          yield recordAt(segment, places[block] as number);
        rest = Math.max(0, rest - segment.blocks);
      }
    },
    close: () => closeSync(file),
  };
}
