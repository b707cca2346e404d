import {
  closeSync,
  existsSync,
  fstatSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import { makeDirectory } from './directory.ts';

/** An append-only file of records, each behind its length and its checksum. */
export interface RecordFile {
  /** Every whole record, in order, with its place and that of the next. */
  scan(): Generator<{ place: number; next: number; value: unknown }>;
  /** The record at a place. @throws RangeError where there is none */
  read(place: number): unknown;
  /** Returns the record's place. The kernel has the bytes then: a SIGKILL after it loses nothing. */
  append(value: unknown): number;
  /** The place behind the last record. */
  end(): number;
  close(): void;
}

/** A record file on disk: its bytes can be read, and it can replace another file. */
export interface StoredRecords extends RecordFile {
  slice(from: number, to: number): Buffer;
  appendBytes(bytes: Uint8Array): void;
  /** Flushes the file to the disk itself, so that it survives a loss of power. */
  sync(): Promise<void>;
  syncNow(): void;
  /** Renames the file over another of the same directory: at every moment there is a file of that name. */
  renameOver(name: string): void;
}

const toDisk = promisify(fsync);

/** What messages tell the operator to do with a chain that cannot be continued. */
export const REMOVE_IT =
  'remove it with the index and the log that are of that chain (all of DATA_DIR, where npm start has them there), or give another directory';

const HEAD_BYTES = 8;
/** A length above this is not a length but a torn write. */
const MAX_RECORD_BYTES = 1 << 28;

export function readAt(file: number, size: number, position: number): Buffer | null {
  const bytes = Buffer.alloc(size);
  let done = 0;
  while (done < size) {
    const got = readSync(file, bytes, done, size - done, position + done);
    if (got === 0) return null;
    done += got;
  }
  return bytes;
}

/** The record at `place`; null where the file ends in the middle of it, or its checksum does not fit. */
function readRecord(file: number, place: number): { body: Buffer; next: number } | null {
  const head = readAt(file, HEAD_BYTES, place);
  if (head === null) return null;
  const size = head.readUInt32LE(0);
  if (size > MAX_RECORD_BYTES) return null;
  const body = readAt(file, size, place + HEAD_BYTES);
  if (body === null || crc32(body) !== head.readUInt32LE(4)) return null;
  return { body, next: place + HEAD_BYTES + size };
}

export function writeAt(file: number, bytes: Uint8Array, position: number): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done, position + done);
}

/** A record as it stands in a file. */
export function encodeRecord(value: unknown): Buffer {
  const body = serialize(value);
  const bytes = Buffer.alloc(HEAD_BYTES + body.length);
  bytes.writeUInt32LE(body.length, 0);
  bytes.writeUInt32LE(crc32(body), 4);
  bytes.set(body, HEAD_BYTES);
  return bytes;
}

/** The record at a place in bytes of a file. @throws RangeError where there is none */
export function recordIn(bytes: Buffer, place: number): unknown {
  const from = place + HEAD_BYTES;
  const body = bytes.subarray(from, from + (from <= bytes.length ? bytes.readUInt32LE(place) : 0));
  if (body.length === 0 || crc32(body) !== bytes.readUInt32LE(place + 4))
    throw new RangeError(`no record at byte ${place} of a chunk`);
  // The value may refer to these bytes for as long as it lives: a copy keeps it from holding the whole chunk in memory.
  return deserialize(Uint8Array.from(body));
}

/** How many bytes from a broken record on are searched for a whole one. */
const LOOKED_BEHIND_BYTES = 1 << 22;

/** Whether a whole record stands behind a broken one. A kill never leaves that: it tears only the last record. */
function goesOnBehind(file: number, place: number, end: number): boolean {
  const size = Math.min(end - place, LOOKED_BEHIND_BYTES);
  const tail = readAt(file, size, place) ?? Buffer.alloc(0);
  for (let at = 1; at + HEAD_BYTES < tail.length; at += 1) {
    const length = tail.readUInt32LE(at);
    if (length === 0 || place + at + HEAD_BYTES + length > end) continue;
    // Every serialised value begins with the byte 0xff.
    if (tail[at + HEAD_BYTES] === 0xff && readRecord(file, place + at) !== null) return true;
  }
  return false;
}

/**
 * Opens the file or makes it; with 'anew' it begins empty. A record that a kill tore in the middle is cut off once the
 * scan comes to it.
 */
export function openRecordFile(dir: string, name: string, begun?: 'anew'): StoredRecords {
  makeDirectory(dir);
  const where = path.join(dir, name);
  const file = openSync(where, existsSync(where) && begun !== 'anew' ? 'r+' : 'w+');
  let end = fstatSync(file).size;
  const appendBytes = (bytes: Uint8Array) => {
    writeAt(file, bytes, end);
    end += bytes.length;
  };
  return {
    *scan() {
      let place = 0;
      while (place < end) {
        const record = readRecord(file, place);
        if (record === null) {
          if (goesOnBehind(file, place, end))
            throw new RangeError(
              `${where} is broken at byte ${place} and goes on behind it, as where two write it at a time: ${REMOVE_IT}`,
            );
          ftruncateSync(file, place);
          end = place;
          return;
        }
        yield { place, next: record.next, value: deserialize(record.body) };
        place = record.next;
      }
    },
    read: (place) => {
      const record = readRecord(file, place);
      if (record === null) throw new RangeError(`no record at byte ${place}`);
      return deserialize(record.body);
    },
    append: (value) => {
      const place = end;
      appendBytes(encodeRecord(value));
      return place;
    },
    appendBytes,
    slice: (from, to) => {
      const bytes = readAt(file, to - from, from);
      if (bytes === null) throw new RangeError(`${where} ends before byte ${to}`);
      return bytes;
    },
    end: () => end,
    sync: () => toDisk(file),
    syncNow: () => fsyncSync(file),
    renameOver: (other) => renameSync(where, path.join(dir, other)),
    close: () => closeSync(file),
  };
}

/** The same in memory, for a chain that need not outlive the process. */
export function openMemoryRecords(): RecordFile {
  const records: unknown[] = [];
  return {
    *scan() {
      for (const [place, value] of records.entries()) yield { place, next: place + 1, value };
    },
    read: (place) => {
      if (!(place in records)) throw new RangeError(`no record at ${place}`);
      return records[place];
    },
    append: (value) => records.push(value) - 1,
    end: () => records.length,
    close: () => {},
  };
}
