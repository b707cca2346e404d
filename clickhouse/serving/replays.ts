import type { Store } from '../client.ts';
import { replayDatabase, replayNumber } from './serving.ts';

const FILLING = 1;
const ABANDONED = 2;
const SERVED = 3;

/** The database that an unfinished replay fills; null where there is none. */
export async function unfinishedReplay(home: Store): Promise<string | null> {
  const rows = await home.query<{ database: string }>(
    'SELECT database FROM replays FINAL WHERE step = {filling:UInt8}',
    { filling: FILLING },
  );
  return rows.map(({ database }) => database).toSorted(byNumber(home))[0] ?? null;
}

/** Names the next database to fill, one that never was; it is made by who opens it. */
export async function beginReplay(home: Store): Promise<string> {
  const rows = await home.query<{ name: string }>(
    `SELECT database AS name FROM replays FINAL
     UNION ALL SELECT name FROM system.databases WHERE startsWith(name, {home:String})`,
    { home: home.database },
  );
  const numbers = rows.map(({ name }) => replayNumber(home.database, name) ?? 0);
  const database = replayDatabase(home.database, Math.max(0, ...numbers) + 1);
  await home.insert('replays', [{ database, step: FILLING }]);
  return database;
}

/** The database of an unfinished replay is not gone on with. */
export async function abandonReplay(home: Store, database: string): Promise<void> {
  await home.insert('replays', [{ database, step: ABANDONED }]);
}

/** The database has become the serving one. */
export async function finishReplay(home: Store, database: string): Promise<void> {
  await home.insert('replays', [{ database, step: SERVED }]);
}

function byNumber(home: Store) {
  const number = (database: string) => replayNumber(home.database, database) ?? 0;
  return (a: string, b: string) => number(b) - number(a);
}
