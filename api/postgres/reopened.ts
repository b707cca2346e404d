import type { PGlite } from '@electric-sql/pglite';
import { messageOf } from '../../runtime/errors.ts';

export interface Reopened {
  /** The engine, opened anew where it ended itself. @throws Error where it does not open, or was tried a moment ago */
  whole(): Promise<PGlite>;
  close(): Promise<void>;
}

const LONGEST_WAIT_MS = 60 * 60_000;

/**
 * An engine ends itself in a panic where its log cannot be written, as on a full or failing disk. What it had acknowledged
 * is there when another is opened in its place.
 * @param againMs between two tries of that, twice as long behind each that failed
 * @param mayWrite rejects where an engine could not write: one that fails to open stays in memory, some 170 MB
 */
export async function createReopened(
  create: () => Promise<PGlite>,
  againMs: number,
  mayWrite: () => Promise<void>,
): Promise<Reopened> {
  let engine = guarded(await create());
  let triedAt: number | null = null;
  let failures = 0;
  const waitMs = () => Math.min(againMs * 2 ** failures, LONGEST_WAIT_MS);
  const away = (why: unknown) =>
    new Error(
      `the embedded Postgres in DATA_DIR could not write, and is opened anew once it can: ${messageOf(why)}`,
    );
  return {
    whole: async () => {
      const ended = engine.panic();
      if (ended === null) return engine.engine;
      if (triedAt !== null && performance.now() - triedAt < waitMs()) throw away(ended);
      try {
        await mayWrite();
      } catch {
        throw away(ended);
      } finally {
        triedAt = performance.now();
      }
      try {
        engine = guarded(await create());
        failures = 0;
      } catch {
        failures += 1;
        throw away(ended);
      }
      return engine.engine;
    },
    close: async () => {
      if (engine.panic() === null) await engine.engine.close();
    },
  };
}

/** Behind its panic an engine is asked nothing more, not even for the rollback: it would keep this thread for ever. */
function guarded(engine: PGlite): { engine: PGlite; panic(): unknown } {
  const ask = engine.execProtocolStream.bind(engine);
  let panic: unknown = null;
  engine.execProtocolStream = async (message, options) => {
    if (panic !== null) throw panic;
    try {
      return await ask(message, options);
    } catch (error) {
      if ((error as { severity?: string }).severity === 'PANIC') panic = error;
      throw error;
    }
  };
  return { engine, panic: () => panic };
}
