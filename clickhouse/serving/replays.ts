import type { Store } from '../client.ts';
import { replayDatabase, replayNumber } from './serving.ts';

const FILLING = 1;
const ABANDONED = 2;
const SERVED = 3;

export interface UnfinishedReplay {
  database: string;
  /** Mark of the code that began to fill it; null where that is not known. */
  code: string | null;
}

/** The database that an unfinished replay fills; null where there is none. */
export async function unfinishedReplay(home: Store): Promise<UnfinishedReplay | null> {
  const rows = await home.query<UnfinishedReplay>(
    'SELECT database, code FROM replays FINAL WHERE step = {filling:UInt8}',
    { filling: FILLING },
  );
  return rows.toSorted(byNumber(home))[0] ?? null;
}

/**
 * Names the next database to fill, one that never existed; opening it creates it.
 * @param code mark of the code that fills it
 */
export async function beginReplay(home: Store, code: string): Promise<string> {
  const rows = await home.query<{ name: string }>(
    `SELECT database AS name FROM replays FINAL
     UNION ALL SELECT name FROM system.databases WHERE startsWith(name, {home:String})`,
    { home: home.database },
  );
  const numbers = rows.map(({ name }) => replayNumber(home.database, name) ?? 0);
  const database = replayDatabase(home.database, Math.max(0, ...numbers) + 1);
  await home.insert('replays', [{ database, step: FILLING, code }]);
  return database;
}

/** Marks the database of an unfinished replay as given up: it is not filled any further. */
export async function abandonReplay(home: Store, database: string): Promise<void> {
  await home.insert('replays', [{ database, step: ABANDONED }]);
}

export async function isGivenUp(home: Store, database: string): Promise<boolean> {
  const rows = await home.query(
    'SELECT 1 FROM replays FINAL WHERE database = {database:String} AND step = {abandoned:UInt8}',
    { database, abandoned: ABANDONED },
  );
  return rows.length > 0;
}

/** Marks the replay of a database as finished: it has become the serving one. */
export async function finishReplay(home: Store, database: string): Promise<void> {
  await home.insert('replays', [{ database, step: SERVED }]);
}

function byNumber(home: Store) {
  const number = (database: string) => replayNumber(home.database, database) ?? 0;
  return (a: UnfinishedReplay, b: UnfinishedReplay) => number(b.database) - number(a.database);
}
