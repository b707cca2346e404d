import { type BlockRecord, type LedgerHead, layoutOf } from '../block-record.ts';
import {
  openMemoryRecords,
  openRecordFile,
  REMOVE_IT,
  type RecordFile,
  type StoredRecords,
} from '../storage.ts';
import type { Segment } from './block-table.ts';
import type { SnapshotPiece } from './snapshot.ts';

/** A ledger that was opened and whose records were not read yet. */
export interface LedgerFiles {
  dir: string | null;
  /** The first record of the file. */
  head: LedgerHead;
  file: RecordFile | StoredRecords;
  /** The records behind the head. */
  rest: ReturnType<RecordFile['scan']>;
  /** The place of the first of them. */
  body: number;
}

/** A point between two blocks up to which the ledger goes into the archive, and the state at that point. */
export interface Cut {
  place: number;
  slot: bigint;
  version: bigint;
  pieces: Buffer[];
}

/** The records in the ledger's own file. Places count over the whole ledger, whose first part may be in the archive. */
export interface LedgerFile {
  /** The place of its first record. */
  from: number;
  /** Bytes of the state that the file begins with. */
  stateBytes: number;
  end(): number;
  append(record: BlockRecord): void;
  read(place: number): BlockRecord;
  /** The records that were in it when it was opened; to be gone through once. */
  records(): Iterable<{ place: number; next: number; record: BlockRecord }>;
  slice(from: number, to: number): Buffer;
  /** Makes a file that begins with the state of a cut. */
  openNextFile(cut: Cut, segments: readonly Segment[]): StoredRecords;
  /** Copies what came since the cut into that file and renames it to be the ledger; until then the old one is whole. */
  continueIn(next: StoredRecords, cut: Cut): void;
  close(): void;
}

const LEDGER = 'ledger.bin';
/** The file that is to take its place. */
const NEXT = 'ledger.next';
const COPIED_AT_ONCE = 1 << 24;

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

/** Reads the state that a ledger's file begins with. @throws RangeError where the file ends within it */
export function openLedgerFile(
  { dir, head, rest, ...files }: LedgerFiles,
  onPiece: (piece: SnapshotPiece) => void,
): LedgerFile {
  let { file, body } = files;
  for (let piece = 0; piece < (head.archived?.pieces ?? 0); piece += 1) {
    const read = rest.next();
    if (read.done === true)
      throw new RangeError(`${dir} is not whole, ${LEDGER} ends in its beginning: ${REMOVE_IT}`);
    onPiece(read.value.value as SnapshotPiece);
    body = read.value.next;
  }
  /** A byte of the file plus this is its place in the ledger, whose first part may be in the archive. */
  let shift = (head.archived?.segments.at(-1)?.to ?? body) - body;
  const end = () => file.end() + shift;
  const slice = (from: number, to: number) => (file as StoredRecords).slice(from - shift, to - shift);
  return {
    from: body + shift,
    stateBytes: body,
    end,
    append: (record) => file.append(record),
    read: (place) => file.read(place - shift) as BlockRecord,
    *records() {
      for (const { place, next, value } of rest)
        yield { place: place + shift, next: next + shift, record: value as BlockRecord };
    },
    slice,
    openNextFile: ({ slot, version, pieces }, segments) => {
      const next = openRecordFile(dir as string, NEXT, 'anew');
      const archived = { segments, slot, version, pieces: pieces.length };
      next.append({ ...head, format: 3, layout: layoutOf(3), archived } satisfies LedgerHead);
      for (const piece of pieces) next.appendBytes(piece);
      return next;
    },
    continueIn: (next, { place }) => {
      const from = next.end();
      for (let at = place; at < end(); at += COPIED_AT_ONCE)
        next.appendBytes(slice(at, Math.min(end(), at + COPIED_AT_ONCE)));
      next.syncNow();
      next.renameOver(LEDGER);
      file.close();
      file = next;
      shift = place - from;
    },
    close: () => file.close(),
  };
}
