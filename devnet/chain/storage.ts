import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import { makeDirectory } from './directory.ts';

/** An append-only file of records, each behind its length and its checksum. */
export interface RecordFile {
  /** Every whole record, in order, with its place. */
  scan(): Generator<{ place: number; value: unknown }>;
  /** The record at a place. @throws RangeError where there is none */
  read(place: number): unknown;
  /** In the kernel's hands when this returns: a SIGKILL after it loses nothing. */
  append(value: unknown): number;
  close(): void;
}

const HEAD_BYTES = 8;
/** A length over this is no length but a torn write. */
const MAX_RECORD_BYTES = 1 << 28;

function readAt(file: number, size: number, position: number): Buffer | null {
  const bytes = Buffer.alloc(size);
  let done = 0;
  while (done < size) {
    const got = readSync(file, bytes, done, size - done, position + done);
    if (got === 0) return null;
    done += got;
  }
  return bytes;
}

/** The record at `place`, or null where the file ends in the middle of it. */
function readRecord(file: number, place: number): { body: Buffer; next: number } | null {
  const head = readAt(file, HEAD_BYTES, place);
  if (head === null) return null;
  const size = head.readUInt32LE(0);
  if (size > MAX_RECORD_BYTES) return null;
  const body = readAt(file, size, place + HEAD_BYTES);
  if (body === null || crc32(body) !== head.readUInt32LE(4)) return null;
  return { body, next: place + HEAD_BYTES + size };
}

/** How far behind a broken record is looked for the next one. */
const LOOKED_BEHIND_BYTES = 1 << 22;

/** Whether a whole record stands behind a broken one, which no kill leaves. */
function goesOnBehind(file: number, place: number, end: number): boolean {
  const size = Math.min(end - place, LOOKED_BEHIND_BYTES);
  const tail = readAt(file, size, place) ?? Buffer.alloc(0);
  for (let at = 1; at + HEAD_BYTES < tail.length; at += 1) {
    const length = tail.readUInt32LE(at);
    if (length === 0 || place + at + HEAD_BYTES + length > end) continue;
    // What every serialised value begins with.
    if (tail[at + HEAD_BYTES] === 0xff && readRecord(file, place + at) !== null) return true;
  }
  return false;
}

/** Opens or makes the file; a record that a kill tore in the middle is cut off once the scan comes to it. */
export function openRecordFile(dir: string, name: string): RecordFile {
  makeDirectory(dir);
  const where = path.join(dir, name);
  const file = openSync(where, existsSync(where) ? 'r+' : 'w+');
  let end = fstatSync(file).size;
  return {
    *scan() {
      let place = 0;
      while (place < end) {
        const record = readRecord(file, place);
        if (record === null) {
          if (goesOnBehind(file, place, end))
            throw new RangeError(
              `${where} is broken at byte ${place} and goes on behind it, as where two write it at a time: remove it with the index and the log that are of that chain (all of DATA_DIR, where npm start has them there), or give another directory`,
            );
          ftruncateSync(file, place);
          end = place;
          return;
        }
        yield { place, value: deserialize(record.body) };
        place = record.next;
      }
    },
    read: (place) => {
      const record = readRecord(file, place);
      if (record === null) throw new RangeError(`no record at byte ${place}`);
      return deserialize(record.body);
    },
    append: (value) => {
      const body = serialize(value);
      const bytes = Buffer.alloc(HEAD_BYTES + body.length);
      bytes.writeUInt32LE(body.length, 0);
      bytes.writeUInt32LE(crc32(body), 4);
      bytes.set(body, HEAD_BYTES);
      const place = end;
      let done = 0;
      while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done, place + done);
      end = place + bytes.length;
      return place;
    },
    close: () => closeSync(file),
  };
}

/** The same in memory, for a chain that nobody needs tomorrow. */
export function openMemoryRecords(): RecordFile {
  const records: unknown[] = [];
  return {
    *scan() {
      for (const [place, value] of records.entries()) yield { place, value };
    },
    read: (place) => {
      if (!(place in records)) throw new RangeError(`no record at ${place}`);
      return records[place];
    },
    append: (value) => records.push(value) - 1,
    close: () => {},
  };
}
