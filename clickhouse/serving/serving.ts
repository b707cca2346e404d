import { openServer, type Rights, type Store } from '../client.ts';
import { onClusterClause } from '../schema/cluster.ts';
import { underMigrationLock } from '../schema/migration-lock.ts';
import { emptyWhereTableIsMissing } from '../schema/unknown-table.ts';

/** The database of a server that answers are read from. */
export interface Serving {
  database: string;
  /** Rises with every switch; 0 before the first. */
  version: bigint;
}

const NUMBER = /^_r([1-9]\d{0,8})$/;

/** The number of a database that a replay made for `home`; null for any other. */
export function replayNumber(home: string, database: string): number | null {
  const number = database.startsWith(home) ? NUMBER.exec(database.slice(home.length))?.[1] : undefined;
  return number === undefined ? null : Number(number);
}

export const replayDatabase = (home: string, number: number): string => `${home}_r${number}`;

/**
 * The serving database, as the home database has it: home itself before the first switch, and before it has a schema.
 * @param home the database that CLICKHOUSE_URL names.
 * @throws Error where the row names a database that no replay of home has made.
 */
export async function readServing(home: Store): Promise<Serving> {
  const [row] = await home
    .query<{ database: string; version: string }>('SELECT database, version FROM serving FINAL')
    .catch(emptyWhereTableIsMissing);
  if (row === undefined) return { database: home.database, version: 0n };
  const { database, version } = row;
  if (database !== home.database && replayNumber(home.database, database) === null)
    throw new Error(
      `table serving of ${home.database} names ${database}, which is no database of its replays`,
    );
  return { database, version: BigInt(version) };
}

/**
 * Switches readers from one database to another, under the migration lock. Does nothing where `to` serves already.
 * @param check runs under that lock, before the switch.
 * @throws Error where another database than `from` serves by now, and what `check` throws.
 */
export async function switchServing(
  home: Store,
  { from, to, check }: { from: string; to: string; check?: () => Promise<void> },
  cluster: string | null,
): Promise<void> {
  const change = async () => {
    const { database, version } = await readServing(home);
    if (database === to) return;
    if (database !== from) throw new Error(`${database} serves by now, not ${from}: nothing was switched`);
    await check?.();
    await home.insert('serving', [{ version: (version + 1n).toString(), database: to }]);
  };
  await (home.exclusive ? change() : underMigrationLock(home, onClusterClause(cluster), change));
}

/** Another database on the server of CLICKHOUSE_URL, with the same login. */
export function openDatabase(
  url: string,
  database: string,
  cluster: string | null,
  rights: Rights = 'write',
): Promise<Store> {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return openServer(other.href, cluster, rights);
}

/** The serving database of a server, its home opened and closed on the way. */
export async function openServing(
  url: string,
  cluster: string | null,
  rights: Rights = 'write',
): Promise<Store> {
  return (await openServed(url, cluster, rights)).store;
}

/** The same, with the row that names it as the serving one. */
export async function openServed(
  url: string,
  cluster: string | null,
  rights: Rights = 'write',
): Promise<{ store: Store; serving: Serving }> {
  const home = await openServer(url, cluster, rights);
  try {
    const serving = await readServing(home);
    if (serving.database === home.database) return { store: home, serving };
    const store = await openDatabase(url, serving.database, cluster, rights);
    await home.close();
    return { store, serving };
  } catch (error) {
    await home.close();
    throw error;
  }
}
