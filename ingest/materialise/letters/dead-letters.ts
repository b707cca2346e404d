import { createHash } from 'node:crypto';
import type { DeadLetterRow } from '../../../clickhouse/progress-tables.ts';
import type { DeadLetterRecord, LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import type { LogBatch, Topic } from '../../log/port.ts';

/** Bytes over this are kept as their hash and length only. */
const MAX_DEAD_BYTES = 900_000;

/**
 * A dead letter as a row; the same letter twice is one row. A reason that quotes what failed may end in half a
 * surrogate pair, which no store takes: the batch would be tried for ever.
 */
export function deadLetterRow(letter: DeadLetterRecord, readAt: number): DeadLetterRow {
  const { what, where, reason, source, slot, bytes } = letter;
  const hash = createHash('sha256').update(bytes).digest();
  const id = createHash('sha256')
    .update(JSON.stringify([what, where, slot?.toString() ?? null]))
    .update(hash);
  return {
    id: id.digest('hex'),
    what,
    at: where.toWellFormed(),
    reason: (bytes.length > MAX_DEAD_BYTES
      ? `${reason} (sha256 of the bytes ${hash.toString('hex')})`
      : reason
    ).toWellFormed(),
    source,
    slot: slot?.toString() ?? null,
    byte_length: String(bytes.length),
    bytes: bytes.length > MAX_DEAD_BYTES ? '' : Buffer.from(bytes).toString('base64'),
    read_at: String(readAt),
  };
}

/** The bytes of a letter about a record that was too large for the log. */
const HASH_ALONE = /^sha256 [0-9a-f]{64}, \d+ bytes$/;

/**
 * Whether a letter is all that the log has of what failed: a venue's reply, or the hash of what was too large. Any
 * other letter was found in a record of the log, and whatever reads that record finds it again, or finds that it
 * decodes.
 */
export function hasNoSourceRecord({ source, bytes }: DeadLetterRecord): boolean {
  return source === 'poll' || (bytes.length < 200 && HASH_ALONE.test(Buffer.from(bytes).toString()));
}

export interface LetterSourceRow {
  id: string;
  topic: Topic;
  log_partition: number;
  log_offset: string;
}

/** The records of a batch that these letters were found in. */
export function letterSources(batch: LogBatch, letters: readonly DeadLetterRecord[]): LetterSourceRow[] {
  if (letters.length === 0 || batch.topic === 'dead-letters') return [];
  const offsets = new Map<string, bigint>();
  for (const { offset, record } of batch.entries) {
    const place = placeOf(record);
    if (place !== null) offsets.set(place, offset);
  }
  return letters.flatMap((letter) => {
    const offset = offsets.get(`${letter.where} ${letter.slot}`);
    if (offset === undefined) return [];
    const { id } = deadLetterRow(letter, 0);
    return [{ id, topic: batch.topic, log_partition: batch.partition, log_offset: offset.toString() }];
  });
}

function placeOf(record: LogRecord): string | null {
  if (record.kind === 'transaction') return `${encodeBase58(record.signature)} ${record.slot}`;
  if (record.kind === 'account') return `${encodeBase58(record.address)} ${record.slot}`;
  return record.kind === 'dead-letter' ? `${record.where} ${record.slot}` : null;
}
