import { open, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { ConfigError } from '../../runtime/errors.ts';
import type { Db, SqlValue } from './port.ts';
import { createReopened } from './reopened.ts';
import { tidy } from './tidy.ts';
import { createYieldingQueue } from './yielding-queue.ts';

/**
 * Ten times V8's default: the engine's start alone would otherwise have parts of it compiled with optimisation, which
 * takes longer than the start itself. Code that runs again and again is optimised all the same.
 */
const TIERING_BUDGET = 130_000_000;
/** Two segments of the engine's write-ahead log. */
const ROOM_BYTES = 32 * 1024 * 1024;
/** Opening the engine keeps this thread for a second, also where it fails. */
const REOPEN_AFTER_MS = 15_000;

/**
 * The engine in this process, on a directory that no other process has open: two would lose each other's rows. An
 * engine that ended itself because it could not write is opened again.
 * @param reopenAfterMs between two attempts to open it again
 * @throws ConfigError where the optional package is not installed.
 */
export async function openEmbedded(directory: string, reopenAfterMs = REOPEN_AFTER_MS): Promise<Db> {
  const { PGlite } = await import('@electric-sql/pglite').catch((cause: unknown) => {
    throw new ConfigError(
      'the embedded Postgres (@electric-sql/pglite) is not installed: install optional dependencies or set POSTGRES_URL',
      { cause },
    );
  });
  setFlagsFromString(`--wasm-tiering-budget=${TIERING_BUDGET}`);
  const engine = await createReopened(
    () => PGlite.create(directory),
    reopenAfterMs,
    () => hasRoom(directory),
  );
  const inSlices = createYieldingQueue();
  const query = <Row>(sql: string, params: readonly SqlValue[] = []) =>
    inSlices(async () => (await (await engine.whole()).query<Row>(sql, [...params])).rows);
  return {
    query,
    readers: { query },
    tidy: () => tidy({ query }),
    transaction: (work) =>
      inSlices(async () =>
        (await engine.whole()).transaction((tx) =>
          work({
            query: async <Row>(sql: string, params: readonly SqlValue[] = []) =>
              (await tx.query<Row>(sql, [...params])).rows,
            run: async (sql) => void (await tx.exec(sql)),
          }),
        ),
      ),
    // Queued behind everything that waits for its turn, so that no query that came in time finds the engine closed.
    close: () => inSlices(() => engine.close()),
  };
}

/** Rejects where the disk does not take what an engine writes as it opens. */
async function hasRoom(directory: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  // Twice the room, so that this attempt takes none that others on the disk still need.
  if (bavail * bsize < 2 * ROOM_BYTES) throw new Error('no room on the disk');
  const name = path.join(directory, 'room.tmp');
  const part = Buffer.alloc(1024 * 1024, 1);
  try {
    const file = await open(name, 'w');
    try {
      for (let written = 0; written < ROOM_BYTES; written += part.length) await file.write(part);
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    await rm(name, { force: true });
  }
}
