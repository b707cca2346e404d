import { promisify } from 'node:util';
import { zstdCompress, zstdCompressSync } from 'node:zlib';
import type { Key } from '../../program/state/state.ts';
import { type BlockRecord, type LedgerHead, layoutOf } from '../block-record.ts';
import { type ChainIndex, createChainIndex } from '../chain-index.ts';
import {
  encodeRecord,
  openMemoryRecords,
  openRecordFile,
  REMOVE_IT,
  type RecordFile,
  type StoredRecords,
} from '../storage.ts';
import { type Archive, openArchive } from './archive.ts';
import { type Listed, type Position, placeOf, type Segment } from './block-table.ts';
import type { Snapshot, SnapshotPiece } from './snapshot.ts';

/** The records of all blocks: the newest in the ledger's own file and indexed in memory, what is older in its archive. */
export interface BlockStore {
  append(record: BlockRecord): void;
  record(slot: bigint): BlockRecord | null;
  find(signature: Uint8Array): Position | null;
  /** Newest first, older than `before`. */
  of(address: Key, before: Position | null, limit: number): Listed[];
  /** Oldest first, without so many first ones. */
  records(skipped: number): Iterable<BlockRecord>;
  /**
   * Between two blocks: begins to bring what is in the file into the archive once that is enough. Who makes blocks faster
   * than that goes has something to wait for. @throws what failed
   */
  settle(): Promise<void> | null;
  /** How many blocks are indexed in memory, how many segments are in the archive, and whether one is on its way there. */
  held(): { blocks: number; segments: number; isClosing: boolean };
  close(): void;
}

/** What a ledger is, before it is read. */
export interface LedgerFiles {
  dir: string | null;
  /** What it begins with. */
  head: LedgerHead;
  file: RecordFile | StoredRecords;
  /** What stands behind the head. */
  rest: ReturnType<RecordFile['scan']>;
  /** The place of that. */
  body: number;
}

export interface BlockStoreOptions {
  /** What a transaction without instructions of the chain's own names. */
  mentioned: Key;
  /** Bytes of records from which on they are brought into the archive. */
  segmentBytes: number;
}

/** By whom a ledger is read back, in its order. */
export interface Reader {
  piece(piece: SnapshotPiece): void;
  block(record: BlockRecord): void;
  /** The state as far as it has been read, and later as it is. */
  snapshot(): Snapshot;
}

const LEDGER = 'ledger.bin';
/** What is to take its place. */
const NEXT = 'ledger.next';
/** A segment is so many times what the state is written in, since it is written for each. */
const STATES = 4;
const COPIED_AT_ONCE = 1 << 24;

const compress = promisify(zstdCompress);

/** A point between two blocks up to which the ledger is to be in the archive, and the state there. */
interface Cut {
  place: number;
  slot: bigint;
  version: bigint;
  pieces: Buffer[];
}

/** Opens a ledger's file, or begins one. */
export function openLedger(dir: string | null, fresh: LedgerHead): LedgerFiles {
  const file = dir === null ? openMemoryRecords() : openRecordFile(dir, LEDGER);
  const rest = file.scan();
  const first = rest.next();
  if (first.done !== true)
    return { dir, file, rest, head: first.value.value as LedgerHead, body: first.value.next };
  file.append(fresh);
  return { dir, file, rest, head: fresh, body: file.end() };
}

/** Reads a ledger back and goes on with it. @throws RangeError with a sentence where it cannot be gone on with */
export function openBlockStore(
  { dir, head, rest, ...files }: LedgerFiles,
  { mentioned, segmentBytes }: BlockStoreOptions,
  reader: Reader,
): BlockStore {
  let { file, body } = files;
  const { seed } = head;
  const archive = dir === null ? null : openArchive(dir, seed, head.archived?.segments ?? []);
  for (let piece = 0; piece < (head.archived?.pieces ?? 0); piece += 1) {
    const read = rest.next();
    if (read.done === true)
      throw new RangeError(`${dir} is not whole, ${LEDGER} ends in its beginning: ${REMOVE_IT}`);
    reader.piece(read.value.value as SnapshotPiece);
    body = read.value.next;
  }
  let stateBytes = body;
  /** From a byte of the file to its place in the ledger, of which the first part is in the archive. */
  let shift = (head.archived?.segments.at(-1)?.to ?? body) - body;
  const end = () => file.end() + shift;
  const emptyIndex = () => createChainIndex(seed, mentioned);
  /** What is in the file: what came since the last cut, and while it is brought into the archive what came before. */
  let live = emptyIndex();
  let liveFrom = body + shift;
  let closing: ChainIndex | null = null;
  const isEnough = (upTo: number) => upTo - liveFrom >= Math.max(segmentBytes, STATES * stateBytes);

  const cutAt = (place: number): Cut => {
    const { slot, version, pieces } = reader.snapshot();
    const encoded = [...pieces].map(encodeRecord);
    stateBytes = encoded.reduce((sum, { length }) => sum + length, 0);
    live = emptyIndex();
    liveFrom = place;
    return { place, slot, version, pieces: encoded };
  };
  const slice = (from: number, to: number) => (file as StoredRecords).slice(from - shift, to - shift);
  /** A file that begins with a cut. */
  const beginWith = ({ slot, version, pieces }: Cut, segments: readonly Segment[]) => {
    const next = openRecordFile(dir as string, NEXT, 'anew');
    const archived = { segments, slot, version, pieces: pieces.length };
    next.append({ ...head, format: 3, layout: layoutOf(3), archived } satisfies LedgerHead);
    for (const piece of pieces) next.appendBytes(piece);
    return next;
  };
  /** Has the ledger go on in that file. Until its name is given to it, the old one has all that there was. */
  const goOnIn = (next: StoredRecords, { place }: Cut) => {
    const from = next.end();
    for (let at = place; at < end(); at += COPIED_AT_ONCE)
      next.appendBytes(slice(at, Math.min(end(), at + COPIED_AT_ONCE)));
    next.syncNow();
    next.become(LEDGER);
    file.close();
    file = next;
    shift = place - from;
  };

  /** A cut whose segments are in the archive already, of a ledger that was longer than one when it was opened. */
  let due: Cut | null = null;
  for (const { place, next, value } of rest) {
    const record = value as BlockRecord;
    live.add(record, place + shift);
    reader.block(record);
    // What is enough for one segment alone waits for the chain to go on: a start is to be quick.
    if (archive === null || !isEnough(next + shift) || file.end() - next < segmentBytes) continue;
    const index = live;
    due = cutAt(next + shift);
    const written = archive.write(index, { to: due.place, slice });
    let step = written.next();
    while (step.done !== true) step = written.next(zstdCompressSync(step.value.bytes, step.value.options));
    archive.takeIn(step.value);
  }

  let failure: { error: unknown } | null = null;
  let isClosed = false;
  let bringing: Promise<void> | null = null;
  const bring = async (to: Archive, index: ChainIndex, cut: Cut) => {
    const written = to.write(index, { to: cut.place, slice });
    let step = written.next();
    while (step.done !== true) {
      const packed = await compress(step.value.bytes, step.value.options);
      if (isClosed) return;
      step = written.next(packed);
    }
    await to.sync();
    if (isClosed) return;
    const next = beginWith(cut, [...to.segments, step.value]);
    // Most of it: what is left to be held up for is what came since.
    await next.sync();
    if (isClosed) return next.close();
    goOnIn(next, cut);
    to.takeIn(step.value);
    closing = null;
  };

  const indexes = () => (closing === null ? [live] : [live, closing]);
  return {
    append: (record) => {
      const place = end();
      file.append(record);
      live.add(record, place);
    },
    record: (slot) => {
      for (const { table } of indexes()) {
        const place = placeOf(table, slot);
        if (place !== null) return file.read(place - shift) as BlockRecord;
      }
      return archive?.record(slot) ?? null;
    },
    find: (signature) => {
      for (const index of indexes()) {
        const found = index.find(signature);
        if (found !== null) return found;
      }
      return archive?.find(signature) ?? null;
    },
    of: (address, before, limit) => {
      const found: Listed[] = [];
      for (const index of [...indexes(), archive]) {
        if (index === null || found.length === limit) continue;
        for (const one of index.of(address, before, limit - found.length)) found.push(one);
      }
      return found;
    },
    *records(skipped) {
      const inFile = indexes().toReversed();
      let rest = skipped;
      for (const { blocks } of archive?.segments ?? []) rest -= blocks;
      if (archive !== null) yield* archive.records(skipped);
      for (const { table } of inFile) {
        const { length } = table.places;
        for (let block = Math.max(0, rest); block < length; block += 1)
          yield file.read((table.places[block] as number) - shift) as BlockRecord;
        rest -= length;
      }
    },
    settle: () => {
      if (failure !== null) throw failure.error;
      if (archive === null) return null;
      if (closing !== null) return isEnough(end()) ? bringing : null;
      if (due !== null) {
        archive.syncNow();
        goOnIn(beginWith(due, archive.segments), due);
        due = null;
      }
      if (!isEnough(end())) return null;
      closing = live;
      bringing = bring(archive, closing, cutAt(end())).catch((error: unknown) => {
        failure = { error };
      });
      return null;
    },
    held: () => ({
      blocks: indexes().reduce((sum, { table }) => sum + table.slots.length, 0),
      segments: archive?.segments.length ?? 0,
      isClosing: closing !== null,
    }),
    close: () => {
      isClosed = true;
      file.close();
      archive?.close();
    },
  };
}
