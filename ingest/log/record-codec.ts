import type { LogRecord } from '../../schemas/records.ts';
import { createByteReader, createByteWriter } from './bytes.ts';
import { LAYOUTS, type Layout } from './record-layouts.ts';
import { recordBytes } from './size.ts';

/** First byte of every record. Later versions of the reader must go on reading this one: the log is the history. */
const VERSION = 1;

/** Bytes that are no record of a known version. */
export class UnreadableRecordError extends Error {
  override name = 'UnreadableRecordError';
}

const BY_TAG = new Map(Object.values(LAYOUTS).map((layout) => [layout.tag, layout]));

/** A record as the bytes that the log carries. */
export function encodeRecord(record: LogRecord): Buffer {
  const writer = createByteWriter(recordBytes(record) + 128);
  // The kind picks the layout of its own type, which the compiler cannot follow through the map.
  const layout = LAYOUTS[record.kind] as Layout<LogRecord>;
  writer.u8(VERSION);
  writer.u8(layout.tag);
  layout.write(record, writer);
  return writer.finish();
}

/** @throws UnreadableRecordError */
export function decodeRecord(bytes: Uint8Array): LogRecord {
  if (bytes[0] !== VERSION) throw new UnreadableRecordError(`a record of version ${bytes[0]}`);
  const layout = BY_TAG.get(bytes[1] as number);
  if (layout === undefined) throw new UnreadableRecordError(`a record of kind ${bytes[1]}`);
  try {
    const from = createByteReader(bytes.subarray(2));
    const record = layout.read(from);
    from.end();
    return record;
  } catch (cause) {
    throw new UnreadableRecordError(`kind ${bytes[1]}: ${(cause as Error).message}`, { cause });
  }
}
