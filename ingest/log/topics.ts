import type { Reading } from '../../schemas/readings.ts';
import type { LogRecord } from '../../schemas/records.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { HISTORY_TOPICS, type Topic } from './port.ts';

/** Where a record of each kind goes; markers and gaps to every partition there. */
export const TOPICS_OF: Record<LogRecord['kind'], readonly Topic[]> = {
  account: ['accounts'],
  transaction: ['transactions'],
  marker: HISTORY_TOPICS,
  gap: ['transactions'],
  verified: ['transactions'],
  recompute: ['transactions'],
  profit: ['transactions'],
  time: ['accounts'],
  carried: ['accounts'],
  unseen: ['accounts'],
  reading: ['readings'],
  // Each goes where its record would.
  part: [],
  'dead-letter': ['dead-letters'],
};

/** What decides the partition of a record; null for one that goes to all of them, or names its own. */
export function keyOf(record: LogRecord): Uint8Array | null {
  if (record.kind === 'account' || record.kind === 'time') return record.address;
  if (record.kind === 'carried' || record.kind === 'unseen') return record.address;
  if (record.kind === 'transaction' || record.kind === 'profit') return record.signature;
  if (record.kind === 'part') return record.key;
  if (record.kind === 'reading') return textKey(readingKey(record.reading));
  return record.kind === 'dead-letter' ? textKey(record.where) : null;
}

const textKey = (text: string) => decodeKey(text) ?? Buffer.from(text);

function readingKey(reading: Reading): string {
  switch (reading.type) {
    case 'venue_account':
      return reading.venueAccount;
    case 'price':
    case 'metadata':
      return reading.mint;
    case 'venue_status':
      return reading.venue;
    case 'program_status':
      return reading.program;
    case 'catalogue':
    case 'stream':
    case 'currencies':
      return reading.type;
  }
}
