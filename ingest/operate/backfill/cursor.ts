import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../../runtime/process/directory.ts';
import type { UnreadGap } from '../../history/read-history.ts';
import type { KafkaClient } from '../../log/kafka/cluster.ts';

/** A transaction that could not be read, and its slot. */
export type Unread = Pick<UnreadGap, 'signature' | 'fromSlot'>;

/** How far a run has come that was ended before its time. */
export interface Cursor {
  /** The slot at which the run began: transactions are read from there downwards. */
  topSlot: bigint;
  /** The highest slot that is still to be read. */
  toSlot: bigint;
  /** What could not be read of that above: it keeps its gaps open, whoever closes others. */
  unread: readonly Unread[];
  /** Where each partition of transactions ended when this was written. */
  ends: ReadonlyMap<number, bigint>;
}

/** Keeps the cursor of one job in a file, so that a run that was killed goes on. */
export interface CursorFile {
  /** Null where there is none, or the log is not the one it was written about. */
  read(ends: ReadonlyMap<number, bigint>): Cursor | null;
  write(cursor: Cursor): void;
  remove(): void;
}

/** @param job what is read into where: another job has another file. */
export function createCursorFile(dataDir: string, job: readonly string[]): CursorFile {
  const name = createHash('sha256').update(JSON.stringify(job)).digest('hex').slice(0, 16);
  const file = path.join(dataDir, `backfill-${name}.json`);
  return {
    read: (ends) => {
      const cursor = parse(file);
      // A topic that was made anew is shorter than it was.
      const same = cursor !== null && [...cursor.ends].every(([at, end]) => (ends.get(at) ?? -1n) >= end);
      return same ? cursor : null;
    },
    write: ({ topSlot, toSlot, unread, ends }) => {
      makeDirectory(dataDir);
      const body = {
        topSlot: topSlot.toString(),
        toSlot: toSlot.toString(),
        unread: unread.map(({ signature, fromSlot }) => [signature, fromSlot.toString()]),
        ends: [...ends].map(([at, end]) => [at, end.toString()]),
      };
      // Renamed into its place: nobody finds half a file.
      writeFileSync(`${file}.new`, JSON.stringify(body));
      renameSync(`${file}.new`, file);
    },
    remove: () => rmSync(file, { force: true }),
  };
}

function parse(file: string): Cursor | null {
  try {
    const { topSlot, toSlot, unread, ends } = JSON.parse(readFileSync(file, 'utf8'));
    return {
      topSlot: BigInt(topSlot),
      toSlot: BigInt(toSlot),
      unread: (unread as [string, string][]).map(([signature, slot]) => ({
        ...{ signature, fromSlot: BigInt(slot) },
      })),
      ends: new Map((ends as [number, string][]).map(([at, end]) => [at, BigInt(end)])),
    };
  } catch {
    return null;
  }
}

/** Where each partition of a topic ends now. */
export async function endsOf(client: KafkaClient, topic: string): Promise<Map<number, bigint>> {
  return new Map((await client.offsets(topic)).map(({ partition, high }) => [partition, high]));
}
