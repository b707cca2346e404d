import { createHash } from 'node:crypto';
import { createBucket } from '../../runtime/outside/bucket.ts';
import type { DeadLetterRecord, LogRecord } from '../../schemas/records.ts';
import type { LogWriter } from '../log/port.ts';

/**
 * Limits on the bytes of unreadable replies, which are kept for a better reader: 8 MB at once, 86 MB a day. The log is
 * kept for ever, and a venue that answers each request with megabytes of nonsense would fill it.
 */
const BYTES_AT_ONCE = 8_000_000;
const BYTES_PER_SECOND = 1_000;

/**
 * A log whose dead letters stay within these limits: of one beyond them it keeps hash and length, as of any that is too
 * large.
 */
export function withBoundedLetters(log: LogWriter, clock: () => number = Date.now): LogWriter {
  const room = createBucket(BYTES_PER_SECOND, BYTES_AT_ONCE, clock);
  const bounded = (letter: DeadLetterRecord): DeadLetterRecord =>
    room.tryTake(letter.bytes.length) ? letter : { ...letter, bytes: hashOf(letter.bytes) };
  return {
    ...log,
    append: (records) =>
      log.append(
        records.map((record): LogRecord => (record.kind === 'dead-letter' ? bounded(record) : record)),
      ),
  };
}

function hashOf(bytes: Uint8Array): Uint8Array {
  const hash = createHash('sha256').update(bytes).digest('hex');
  return Buffer.from(`sha256 ${hash}, ${bytes.length} bytes`);
}
