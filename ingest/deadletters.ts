import { createHash } from 'node:crypto';
import type { DeadLetterRow } from '../clickhouse/tables.ts';
import type { DeadLetterRecord } from '../schemas/records.ts';

/** Bytes over this are kept as their hash and length only. */
export const MAX_DEAD_BYTES = 900_000;

/** A dead letter as a row; the same letter twice is one row. */
export function deadLetterRow(letter: DeadLetterRecord, readAt: number): DeadLetterRow {
  const { what, where, reason, source, slot, bytes } = letter;
  const hash = createHash('sha256').update(bytes).digest();
  const id = createHash('sha256')
    .update(JSON.stringify([what, where, slot?.toString() ?? null]))
    .update(hash);
  return {
    id: id.digest('hex'),
    what,
    at: where,
    reason:
      bytes.length > MAX_DEAD_BYTES ? `${reason} (sha256 of the bytes ${hash.toString('hex')})` : reason,
    source,
    slot: slot?.toString() ?? null,
    byte_length: String(bytes.length),
    bytes: bytes.length > MAX_DEAD_BYTES ? '' : Buffer.from(bytes).toString('base64'),
    read_at: String(readAt),
  };
}
