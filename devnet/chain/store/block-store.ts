import { promisify } from 'node:util';
import { zstdCompress, zstdCompressSync } from 'node:zlib';
import type { Key } from '../../program/state/state.ts';
import type { BlockRecord } from '../block-record.ts';
import { type ChainIndex, createChainIndex } from '../chain-index.ts';
import { encodeRecord } from '../storage.ts';
import { type Archive, openArchive } from './archive.ts';
import { type Listed, type Position, placeOf } from './block-table.ts';
import { type Cut, type LedgerFiles, openLedgerFile } from './ledger-file.ts';
import type { Snapshot, SnapshotPiece } from './snapshot.ts';

/** The records of all blocks: the newest in the ledger's own file and indexed in memory, older ones in its archive. */
export interface BlockStore {
  append(record: BlockRecord): void;
  record(slot: bigint): BlockRecord | null;
  find(signature: Uint8Array): Position | null;
  /** The transactions that name an address and are older than `before`, newest first. */
  of(address: Key, before: Position | null, limit: number): Listed[];
  /** Oldest first, without the first `skipped` records. */
  records(skipped: number): Iterable<BlockRecord>;
  /**
   * Called between two blocks: begins to move the file's records into the archive once they are enough. Returns what to
   * wait for where blocks are made faster than they can be moved, else null. @throws the error of a failed move
   */
  settle(): Promise<void> | null;
  /** How many blocks are indexed in memory, how many segments the archive has, and whether one is being written. */
  held(): { blocks: number; segments: number; isClosing: boolean };
  close(): void;
}

export interface BlockStoreOptions {
  /** The key that a transaction without instructions is listed under. */
  mentioned: Key;
  /** Once the file has so many bytes of records, they are moved into the archive. */
  segmentBytes: number;
}

/** Receives a ledger in its order as it is read back. */
export interface Reader {
  piece(piece: SnapshotPiece): void;
  block(record: BlockRecord): void;
  /** The state as far as it has been read; once all is read, the state of the chain. */
  snapshot(): Snapshot;
}

/** A segment is at least so many times as large as the state, since all of the state is written for each segment. */
const STATES = 4;

const compress = promisify(zstdCompress);

/** Reads a ledger back and continues it. @throws RangeError with a sentence for the operator where it cannot */
export function openBlockStore(
  files: LedgerFiles,
  { mentioned, segmentBytes }: BlockStoreOptions,
  reader: Reader,
): BlockStore {
  const { dir } = files;
  const { seed, archived } = files.head;
  const archive = dir === null ? null : openArchive(dir, seed, archived?.segments ?? []);
  const file = openLedgerFile(files, reader.piece);
  let { stateBytes } = file;
  const emptyIndex = () => createChainIndex(seed, mentioned);
  /** Indexes of the file: `live` since the last cut; `closing` before it, while that is moved into the archive. */
  let live = emptyIndex();
  let liveFrom = file.from;
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

  /** A cut whose segments were archived at opening, as the ledger was long: the file is yet to begin with it. */
  let due: Cut | null = null;
  for (const { place, next, record } of file.records()) {
    live.add(record, place);
    reader.block(record);
    // The last segment is left to `settle`, once the chain goes on: a start is to be quick.
    if (archive === null || !isEnough(next) || file.end() - next < segmentBytes) continue;
    const index = live;
    due = cutAt(next);
    const written = archive.write(index, { to: due.place, slice: file.slice });
    let step = written.next();
    while (step.done !== true) step = written.next(zstdCompressSync(step.value.bytes, step.value.options));
    archive.takeIn(step.value);
  }

  let failure: { error: unknown } | null = null;
  let isClosed = false;
  let bringing: Promise<void> | null = null;
  const bring = async (to: Archive, index: ChainIndex, cut: Cut) => {
    const written = to.write(index, { to: cut.place, slice: file.slice });
    let step = written.next();
    while (step.done !== true) {
      const packed = await compress(step.value.bytes, step.value.options);
      if (isClosed) return;
      step = written.next(packed);
    }
    await to.sync();
    if (isClosed) return;
    const next = file.openNextFile(cut, [...to.segments, step.value]);
    // Flushes most of the file here: `continueIn`, which blocks, is left with the records that came meanwhile.
    await next.sync();
    if (isClosed) return next.close();
    file.continueIn(next, cut);
    to.takeIn(step.value);
    closing = null;
  };

  const indexes = () => (closing === null ? [live] : [live, closing]);
  return {
    append: (record) => {
      const place = file.end();
      file.append(record);
      live.add(record, place);
    },
    record: (slot) => {
      for (const { table } of indexes()) {
        const place = placeOf(table, slot);
        if (place !== null) return file.read(place);
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
          yield file.read(table.places[block] as number);
        rest -= length;
      }
    },
    settle: () => {
      if (failure !== null) throw failure.error;
      if (archive === null) return null;
      if (closing !== null) return isEnough(file.end()) ? bringing : null;
      if (due !== null) {
        archive.syncNow();
        file.continueIn(file.openNextFile(due, archive.segments), due);
        due = null;
      }
      if (!isEnough(file.end())) return null;
      closing = live;
      bringing = bring(archive, closing, cutAt(file.end())).catch((error: unknown) => {
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
