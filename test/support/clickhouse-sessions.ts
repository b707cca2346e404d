import type { Session } from 'chdb';

/** Above it the one that waited longest is closed. */
const MOST_WAITING = 64;

interface Waiting {
  kind: string;
  session: Session;
}

export interface KeptSessions {
  /**
   * Runs SQL on a session where `opening` was run and since then only SQL of this kind.
   * @param kind what all SQL of this kind sets anew, and leaves behind.
   */
  run(kind: string, opening: string, sql: string): Promise<Uint8Array>;
  close(): void;
}

/** To open a session costs as much as a small query does: each is kept for the next request of its kind. */
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
        // Nobody knows how much of it was run.
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
