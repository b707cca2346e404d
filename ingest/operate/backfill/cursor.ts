import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../../runtime/process/directory.ts';
import type { UnreadGap } from '../../history/read-history.ts';
import type { KafkaClient } from '../../log/kafka/cluster.ts';
import { endsOf } from '../../log/kafka/topics.ts';

/** A transaction that could not be read, its slot, and a place (`before`) of the list above it. */
export type Unread = Pick<UnreadGap, 'signature' | 'fromSlot' | 'before'>;

/** How far an interrupted run has come: all up to `topSlot` is read, except `fromSlot` to `toSlot`. */
export interface Cursor {
  /** Unix milliseconds. */
  begunAt: number;
  topSlot: bigint;
  /** The slots that are left to be read, both ends included. */
  fromSlot: bigint;
  toSlot: bigint;
  /** Transactions of the rest that could not be read: their gaps stay open, whatever closes others. */
  unread: readonly Unread[];
}

/** Places in the partitions of transactions. */
export interface LogPlaces {
  /** Where each ends now. */
  ends(): Promise<ReadonlyMap<number, bigint>>;
  /** The first that was appended then or later, in unix milliseconds; the end where there is none. */
  since(millis: number): Promise<ReadonlyMap<number, bigint>>;
}

/** Keeps the cursor of one job in a file, so that a run that was killed goes on. */
export interface CursorFile {
  /** Where it is kept. */
  readonly file: string;
  /** Null where there is none, or the log is not the one it was written about. */
  read(): Promise<Cursor | null>;
  write(cursor: Cursor): Promise<void>;
  remove(): void;
}

interface Kept extends Cursor {
  /** Where the partitions ended when this was written, and when that was. */
  ends: ReadonlyMap<number, bigint>;
  writtenAt: number;
}

/** How far apart the clocks of machines that append to a log may be. */
const CLOCKS_APART_MS = 60_000;

/** @param job what is read into where: another job has another file. */
export function createCursorFile(dataDir: string, job: readonly string[], log: LogPlaces): CursorFile {
  const name = createHash('sha256').update(JSON.stringify(job)).digest('hex').slice(0, 16);
  const file = path.join(dataDir, `backfill-${name}.json`);
  return {
    file,
    read: async () => {
      const kept = parse(file);
      return kept !== null && (await isOf(log, kept)) ? kept : null;
    },
    write: async (cursor) => {
      const ends = [...(await log.ends())].map(([at, end]) => [at, end.toString()]);
      makeDirectory(dataDir);
      const body = {
        ...{ begunAt: cursor.begunAt, writtenAt: Date.now(), ends },
        topSlot: cursor.topSlot.toString(),
        fromSlot: cursor.fromSlot.toString(),
        toSlot: cursor.toSlot.toString(),
        unread: cursor.unread.map(({ signature, fromSlot, before }) => [
          ...[signature, fromSlot.toString(), before ?? null],
        ]),
      };
      // Renamed into its place, so that half a file is never read.
      writeFileSync(`${file}.new`, JSON.stringify(body));
      renameSync(`${file}.new`, file);
    },
    remove: () => rmSync(file, { force: true }),
  };
}

/**
 * Whether the log is still the one that the cursor was written about. A topic that was made anew is shorter than it
 * was, or has records that were appended since at offsets before the old end.
 */
async function isOf(log: LogPlaces, { ends, writtenAt }: Kept): Promise<boolean> {
  const now = await log.ends();
  const since = await log.since(writtenAt + CLOCKS_APART_MS);
  return [...ends].every(([at, end]) => (now.get(at) ?? -1n) >= end && (since.get(at) ?? end) >= end);
}

function parse(file: string): Kept | null {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    return {
      begunAt: Number(kept.begunAt),
      writtenAt: Number(kept.writtenAt),
      topSlot: BigInt(kept.topSlot),
      fromSlot: BigInt(kept.fromSlot),
      toSlot: BigInt(kept.toSlot),
      unread: (kept.unread as [string, string, (string | null)?][]).map(([signature, slot, before]) => ({
        ...{ signature, fromSlot: BigInt(slot), before: before ?? null },
      })),
      ends: new Map((kept.ends as [number, string][]).map(([at, end]) => [at, BigInt(end)])),
    };
  } catch {
    return null;
  }
}

export const logPlaces = (client: KafkaClient, topic: string): LogPlaces => ({
  ends: () => endsOf(client, topic),
  since: (millis) => client.offsetsAt(topic, millis),
});
