import type { Db } from './port.ts';

/** A database that is still being opened: questions wait for it, and fail as its opening does. */
export function deferred(opening: Promise<Db>): Db {
  return {
    query: async (sql, params) => (await opening).query(sql, params),
    transaction: async (work) => (await opening).transaction(work),
    close: () =>
      opening.then(
        (db) => db.close(),
        () => undefined,
      ),
  };
}
