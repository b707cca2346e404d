import type { Session } from 'chdb';

/** Most idle sessions; beyond that the one that was idle longest is closed. */
const MOST_WAITING = 64;

interface Waiting {
  kind: string;
  session: Session;
}

export interface KeptSessions {
  /**
   * Runs SQL on a session on which `opening` was run, and after it only SQL of the same kind.
   * @param kind names the settings and parameters that all SQL of this kind sets, and leaves set on the session
   */
  run(kind: string, opening: string, sql: string): Promise<Uint8Array>;
  close(): void;
}

/** Keeps sessions for the next request of their kind: opening one costs as much as a small query. */
export function keepSessions(open: () => Session): KeptSessions {
  const waiting: Waiting[] = [];
  let closed = false;
  const take = (kind: string) => {
    const at = waiting.findLastIndex((one) => one.kind === kind);
    return at === -1 ? null : (waiting.splice(at, 1)[0] as Waiting).session;
  };
  const keep = (one: Waiting) => {
    waiting.push(one);
    if (closed || waiting.length > MOST_WAITING) waiting.shift()?.session.close();
  };
  return {
    run: async (kind, opening, sql) => {
      const kept = take(kind);
      const session = kept ?? open();
      try {
        const statements = kept === null ? `${opening} ${sql}` : sql;
        const result = await session.queryAsync(statements, { format: 'TabSeparated' });
        keep({ kind, session });
        return result.bytes();
      } catch (error) {
        // It is not known how many of the statements ran, so the session is not used again.
        session.close();
        throw error;
      }
    },
    close: () => {
      closed = true;
      for (const { session } of waiting.splice(0)) session.close();
    },
  };
}
