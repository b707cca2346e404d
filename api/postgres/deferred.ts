import { BusyError } from '../../runtime/errors.ts';
import type { Db } from './port.ts';

/**
 * A database that is still being opened: queries wait for it, and fail where its opening fails. Once it is being closed
 * they fail as busy, to be retried at the process that comes after this one.
 */
export function deferred(opening: Promise<Db>): Db {
  let isClosing = false;
  const open = async () => {
    const db = await opening;
    if (isClosing) throw new BusyError('the service is stopping');
    return db;
  };
  return {
    query: async (sql, params) => (await open()).query(sql, params),
    readers: { query: async (sql, params) => (await open()).readers.query(sql, params) },
    transaction: async (work) => (await open()).transaction(work),
    tidy: async () => (await open()).tidy?.(),
    close: () => {
      isClosing = true;
      return opening.then(
        (db) => db.close(),
        () => undefined,
      );
    },
  };
}
