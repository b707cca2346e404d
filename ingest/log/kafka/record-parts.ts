import { createHash } from 'node:crypto';
import type {
  AccountRecord,
  DeadLetterRecord,
  LogRecord,
  PartRecord,
  ReadingRecord,
  TransactionRecord,
} from '../../../schemas/records.ts';
import type { LogEntry } from '../port.ts';
import { decodeRecord, UnreadableRecordError } from '../record-codec.ts';
import { keyOf } from '../topics.ts';

/** More parts than any account, transaction or list of a venue needs. */
const MOST_PARTS = 64;
/** Bytes of the record that one part carries. */
const PART_BYTES = 800_000;

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

/** Whether a record of so many bytes can be cut in parts. */
export const fitsInParts = (bytes: number): boolean => bytes <= PART_BYTES * MOST_PARTS;

/** The parts of a record that is larger than the log takes at once; all go to the partition of the record. */
export function cutInParts(
  record: AccountRecord | TransactionRecord | ReadingRecord,
  encoded: Uint8Array,
): PartRecord[] {
  const count = Math.ceil(encoded.length / PART_BYTES);
  const whole = { of: record.kind, key: keyOf(record) as Uint8Array, hash: hashOf(encoded), count };
  return Array.from({ length: count }, (_, at) => ({
    kind: 'part',
    ...whole,
    at,
    bytes: encoded.subarray(at * PART_BYTES, (at + 1) * PART_BYTES),
  }));
}

/** Puts records together again from their parts. A `place` is a partition of the log, `topic/partition`. */
export interface Assembly {
  /** What to apply in place of an entry: the whole record for its last part; a dead letter for each one given up. */
  take(place: string, entry: LogEntry): LogEntry[];
  /** The offset from which a partition has to be read again for its records that are not whole; null where all are. */
  pendingFrom(place: string): bigint | null;
  /** All whole records of a place are applied: their parts can be dropped. */
  applied(place: string): void;
  forget(): void;
}

export interface AssemblyLimits {
  /** A record is given up once this many offsets behind its first part it is not whole. */
  mostBehind: bigint;
  /** Bytes of parts that wait for others, in one partition. */
  mostBytes: number;
  /** Reading began at an arbitrary offset: a record whose first part stands before that is dropped without a letter. */
  beginsAnywhere?: boolean;
}

interface Held {
  first: bigint;
  count: number;
  parts: Map<number, Uint8Array>;
  bytes: number;
}

/** Records being put together, by the hash of the whole. */
type Records = Map<string, Held>;

export const DEFAULT_LIMITS: AssemblyLimits = { mostBehind: 20_000n, mostBytes: 64 * 1024 * 1024 };

const isWhole = ({ parts, count }: Held) => parts.size === count;

export function createAssembly(limits = DEFAULT_LIMITS): Assembly {
  const { mostBehind, mostBytes, beginsAnywhere = false } = limits;
  const places = new Map<string, Records>();

  const add = (records: Records, offset: bigint, part: PartRecord): Held => {
    const name = Buffer.from(part.hash).toString('hex');
    const held: Held = records.get(name) ?? { first: offset, count: part.count, parts: new Map(), bytes: 0 };
    // A part may come twice: a failed append may have sent some before.
    if (!held.parts.has(part.at)) held.bytes += part.bytes.length;
    held.parts.set(part.at, part.bytes);
    records.set(name, held);
    return held;
  };
  const giveUp = (place: string, records: Records, offset: bigint): DeadLetterRecord[] => {
    const letters: DeadLetterRecord[] = [];
    // Whole records are of the batch that is being applied, which holds their bytes anyway.
    const waiting = [...records].filter(([, held]) => !isWhole(held));
    let bytes = waiting.reduce((sum, [, held]) => sum + held.bytes, 0);
    for (const [name, held] of waiting) {
      if (offset - held.first <= mostBehind && bytes <= mostBytes) continue;
      records.delete(name);
      bytes -= held.bytes;
      if (beginsAnywhere && !held.parts.has(0)) continue;
      letters.push(letter(`${place}/${held.first}`, 'the other parts of the record did not come'));
    }
    return letters;
  };

  return {
    take: (place, entry) => {
      const { offset, record } = entry;
      if (record.kind === 'part' && (record.at >= record.count || record.count > MOST_PARTS))
        return [{ offset, record: letter(`${place}/${offset}`, `part ${record.at} of ${record.count}`) }];
      const records = places.get(place) ?? new Map<string, Held>();
      if (record.kind !== 'part' && records.size === 0) return [entry];
      places.set(place, records);
      const held = record.kind === 'part' ? add(records, offset, record) : null;
      const lost = giveUp(place, records, offset).map((gone): LogEntry => ({ offset, record: gone }));
      if (held === null || !isWhole(held)) return [...lost, entry];
      return [...lost, { offset, record: together(`${place}/${offset}`, record as PartRecord, held) }];
    },
    pendingFrom: (place) => {
      const pending = [...(places.get(place)?.values() ?? [])].filter((held) => !isWhole(held));
      return pending.reduce<bigint | null>(
        (least, { first }) => (least === null || first < least ? first : least),
        null,
      );
    },
    applied: (place) => {
      const records = places.get(place);
      for (const [name, held] of records ?? []) if (isWhole(held)) records?.delete(name);
      if (records?.size === 0) places.delete(place);
    },
    forget: () => places.clear(),
  };
}

function together(where: string, { hash }: PartRecord, { parts, count }: Held): LogRecord {
  const bytes = Buffer.concat(Array.from({ length: count }, (_, at) => parts.get(at) ?? new Uint8Array(0)));
  try {
    if (Buffer.compare(hashOf(bytes), hash) !== 0)
      throw new UnreadableRecordError('its parts do not belong together');
    return decodeRecord(bytes);
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    return letter(where, error.message);
  }
}

function letter(where: string, reason: string): DeadLetterRecord {
  const bytes = new Uint8Array(0);
  return { kind: 'dead-letter', source: 'stream', what: 'log-record', where, reason, slot: null, bytes };
}
