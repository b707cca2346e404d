import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { DeadLetterRecord, LogRecord, MarkerRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { hourOf } from '../../../schemas/units.ts';
import type { Topic } from '../port.ts';
import { encodeRecord } from '../record-codec.ts';
import { keyOf, TOPICS_OF } from '../topics.ts';
import { cutInParts, fitsInParts } from './record-parts.ts';

export interface Outgoing {
  topic: Topic;
  partition: number;
  key: Uint8Array | null;
  value: Uint8Array;
}

/**
 * A larger account, transaction or reading (a catalogue of thousands of pairs) is cut in parts, which the reader puts
 * together; any other larger record goes to the dead letters, with its hash and length in place of its bytes.
 */
export const MOST_RECORD_BYTES = 900_000;
/** A broker takes one batch per partition and request, of a million bytes unless it is configured otherwise. */
const MOST_PARTITION_BYTES = 950_000;
const MOST_ROUND_BYTES = 8_000_000;
/** Approximate bytes of a message's envelope. */
const ENVELOPE = 100;

/** The partition of a key. This must never change, or the records of a key are no longer in one order. */
function partitionOf(key: Uint8Array, partitions: number): number {
  return crc32(key) % partitions;
}

/**
 * What to send for some records, in rounds: each round is acknowledged before the next is sent. A marker is sent after
 * every record before it, the last of a run of markers is sent for all of them, and nothing behind a gap or verified
 * record is sent before that record.
 */
export function planRounds(records: readonly LogRecord[], partitions: Record<Topic, number>): Outgoing[][] {
  const rounds: Outgoing[][] = [];
  let round = openRound();
  let marker: MarkerRecord | null = null;
  const flush = () => {
    if (round.messages.length > 0) rounds.push(round.messages);
    round = openRound();
  };
  const flushAll = () => {
    flush();
    if (marker !== null) rounds.push(toAll(marker, partitions));
    marker = null;
  };
  for (const record of records) {
    if (record.kind === 'marker') {
      if (marker !== null && !standsFor(record, marker)) flushAll();
      const held: MarkerRecord | null = marker;
      marker = { ...record, parent: (held ?? record).parent };
    } else if (record.kind === 'gap' || record.kind === 'verified') {
      flushAll();
      rounds.push(toAll(record, partitions));
    } else {
      for (const message of toOne(record, partitions)) {
        if (!round.fits(message)) flush();
        round.add(message);
      }
    }
  }
  flushAll();
  return rounds;
}

/** Whether `next` alone can be sent for both: there is no hole in or after `one`, and no hour begins with `next`. */
const standsFor = (next: MarkerRecord, one: MarkerRecord): boolean =>
  next.parent === one.slot && one.missed === undefined && hourOf(next.blockTime) === hourOf(one.blockTime);

function openRound() {
  const messages: Outgoing[] = [];
  const sizes = new Map<string, number>();
  let total = 0;
  const placeOf = ({ topic, partition }: Outgoing) => `${topic}/${partition}`;
  return {
    messages,
    fits: (message: Outgoing) => {
      const size = message.value.length + ENVELOPE;
      const held = sizes.get(placeOf(message)) ?? 0;
      return held + size <= MOST_PARTITION_BYTES && total + size <= MOST_ROUND_BYTES;
    },
    add: (message: Outgoing) => {
      const size = message.value.length + ENVELOPE;
      sizes.set(placeOf(message), (sizes.get(placeOf(message)) ?? 0) + size);
      total += size;
      messages.push(message);
    },
  };
}

function toAll(record: LogRecord, partitions: Record<Topic, number>): Outgoing[] {
  const value = encodeRecord(record);
  return TOPICS_OF[record.kind].flatMap((topic) =>
    Array.from({ length: partitions[topic] }, (_, partition) => ({ topic, partition, key: null, value })),
  );
}

function toOne(record: LogRecord, partitions: Record<Topic, number>): Outgoing[] {
  const encoded = encodeRecord(record);
  if (record.kind === 'recompute')
    return [{ topic: 'transactions', partition: record.partition, key: null, value: encoded }];
  const place = (sent: LogRecord, kind: LogRecord['kind'], value: Uint8Array): Outgoing => {
    const key = keyOf(sent) as Uint8Array;
    const [topic] = TOPICS_OF[kind] as readonly [Topic];
    return { topic, partition: partitionOf(key, partitions[topic]), key, value };
  };
  if (encoded.length <= MOST_RECORD_BYTES) return [place(record, record.kind, encoded)];
  if (isCut(record) && fitsInParts(encoded.length))
    return cutInParts(record, encoded).map((part) => place(part, part.of, encodeRecord(part)));
  const letter = tooLarge(record, encoded);
  return [place(letter, letter.kind, encodeRecord(letter))];
}

const isCut = (record: LogRecord) =>
  record.kind === 'account' || record.kind === 'transaction' || record.kind === 'reading';

/** Messages by topic, those of one topic in their order. */
export function byTopic<M extends { topic: string }>(messages: readonly M[]): [string, M[]][] {
  const topics = new Map<string, M[]>();
  for (const message of messages) {
    const list = topics.get(message.topic);
    if (list === undefined) topics.set(message.topic, [message]);
    else list.push(message);
  }
  return [...topics];
}

function tooLarge(record: LogRecord, encoded: Uint8Array): DeadLetterRecord {
  const hash = createHash('sha256').update(encoded).digest('hex');
  // The record that a dead letter is about stands in the log, or did not come from it: its bytes can be left out.
  if (record.kind === 'dead-letter')
    return { ...record, bytes: Buffer.from(`${encoded.length} bytes of sha256 ${hash}`) };
  const bytes = Buffer.from(`sha256 ${hash}, ${encoded.length} bytes`);
  const key = keyOf(record);
  return {
    kind: 'dead-letter',
    source: 'source' in record ? record.source : 'poll',
    what: record.kind,
    where: key === null ? '' : encodeBase58(key),
    reason: `${encoded.length} bytes are more than the log takes`,
    slot: 'slot' in record ? record.slot : null,
    bytes,
  };
}
