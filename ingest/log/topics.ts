import type { Reading } from '../../schemas/readings.ts';
import type { LogRecord } from '../../schemas/records.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { HISTORY_TOPICS, type Topic } from './port.ts';

/** The topics of each kind of record. Markers, gaps and verified records go to every partition of theirs. */
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
  // A part goes to the topic of the record that it belongs to.
  part: [],
  'dead-letter': ['dead-letters'],
};

type KeyOf<R> = (record: R) => Uint8Array | null;

const KEYS_OF: { [K in LogRecord['kind']]: KeyOf<Extract<LogRecord, { kind: K }>> } = {
  account: ({ address }) => address,
  transaction: ({ signature }) => signature,
  marker: () => null,
  gap: () => null,
  verified: () => null,
  recompute: () => null,
  profit: ({ signature }) => signature,
  time: ({ address }) => address,
  carried: ({ address }) => address,
  unseen: ({ address }) => address,
  reading: ({ reading }) => textKey(readingKey(reading)),
  part: ({ key }) => key,
  'dead-letter': ({ where }) => textKey(where),
};

/** The bytes that decide the partition of a record; null for one that goes to every partition, or names its own. */
export const keyOf = (record: LogRecord): Uint8Array | null =>
  // The kind picks the function of its own type, which the compiler cannot follow through the map.
  (KEYS_OF[record.kind] as KeyOf<LogRecord>)(record);

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
