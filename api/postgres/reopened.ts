import type { PGlite } from '@electric-sql/pglite';
import { messageOf } from '../../runtime/errors.ts';

export interface Reopened {
  /** The engine, opened again where it ended itself. @throws Error where that fails, or was tried a moment ago */
  whole(): Promise<PGlite>;
  close(): Promise<void>;
}

const LONGEST_WAIT_MS = 60 * 60_000;

/**
 * An engine ends itself in a panic where its log cannot be written, as on a full or failing disk. What it had acknowledged
 * is there when another is opened in its place.
 * @param againMs between two attempts to open one; doubled after each that failed, or whose engine ended itself as
 * well, until an engine has served for LONGEST_WAIT_MS
 * @param mayWrite rejects where an engine could not write; asked first, as an engine that fails to open stays in
 * memory, some 170 MB
 */
export async function createReopened(
  create: () => Promise<PGlite>,
  againMs: number,
  mayWrite: () => Promise<void>,
  monotonic: () => number = () => performance.now(),
): Promise<Reopened> {
  let triedAt: number | null = null;
  let failures = 0;
  const opened = async () => {
    const [made, at] = [await create(), monotonic()];
    return guarded(made, () => {
      if (monotonic() - at >= LONGEST_WAIT_MS) failures = 0;
    });
  };
  let engine = await opened();
  const waitMs = () => Math.min(againMs * 2 ** failures, LONGEST_WAIT_MS);
  const away = (why: unknown) =>
    new Error(
      `the embedded Postgres in DATA_DIR could not write, and is opened anew once it can: ${messageOf(why)}`,
    );
  return {
    whole: async () => {
      const ended = engine.panic();
      if (ended === null) return engine.engine;
      if (triedAt !== null && monotonic() - triedAt < waitMs()) throw away(ended);
      try {
        await mayWrite();
      } catch {
        throw away(ended);
      } finally {
        triedAt = monotonic();
      }
      // Counts as a failure until the engine has served: that it opens and reads does not show that it can write.
      failures += 1;
      try {
        engine = await opened();
      } catch {
        throw away(ended);
      }
      return engine.engine;
    },
    close: async () => {
      if (engine.panic() === null) await engine.engine.close();
    },
  };
}

/**
 * After its panic an engine is sent nothing more, not even the rollback: it would keep this thread for ever.
 * @param onAnswer called for each answer
 */
function guarded(engine: PGlite, onAnswer: () => void): { engine: PGlite; panic(): unknown } {
  const ask = engine.execProtocolStream.bind(engine);
  let panic: unknown = null;
  engine.execProtocolStream = async (message, options) => {
    if (panic !== null) throw panic;
    try {
      const answer = await ask(message, options);
      onAnswer();
      return answer;
    } catch (error) {
      if ((error as { severity?: string }).severity === 'PANIC') panic = error;
      throw error;
    }
  };
  return { engine, panic: () => panic };
}
