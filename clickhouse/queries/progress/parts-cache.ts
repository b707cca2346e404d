import type { Store } from '../../client.ts';

/** Parts, which identify the content of a table of one server: a part never changes, and its name is not used again. */
export interface PartRow {
  of: string;
  part: string;
}

/** A query for the parts of some tables, which costs as much as one of a table without rows. */
export const partsOf = (tables: readonly string[]): string =>
  tables
    .map(
      (table) =>
        `SELECT '${table}' AS of, concat(_part, ' ', toString(count())) AS part FROM ${table} GROUP BY _part`,
    )
    .join('\nUNION ALL ');

const nameOf = (parts: readonly PartRow[]): string =>
  parts
    .map(({ of, part }) => `${of} ${part}`)
    .sort()
    .join();

/** Only this engine is of one server: replicas have parts of their own, and may each answer one of two questions. */
const ONE_SERVER = 'ReplacingMergeTree';

async function areOfOneServer(store: Store, tables: readonly string[]): Promise<boolean> {
  const rows = await store.query(
    `SELECT name FROM system.tables
     WHERE database = currentDatabase() AND name IN {tables:Array(String)} AND engine = {engine:String}`,
    { tables, engine: ONE_SERVER },
  );
  return rows.length === tables.length;
}

/** How long an answer is trusted: a server that lost acknowledged writes, or the whole table, may use a name again. */
const TRUSTED_MS = 60_000;

/** The answer is shared: callers must not change it. */
export interface CachedRead<Answer> {
  (store: Store): Promise<Answer>;
  /** For a caller that read the parts along with something else: an answer of that moment or a later one. */
  at(store: Store, parts: readonly PartRow[]): Promise<Answer>;
}

interface Kept<Answer> {
  isOfOneServer: boolean;
  name: string;
  at: number;
  answer: Answer;
}

/** A question over all rows of tables that hardly ever change, asked again once an insert or a merge changed one. */
export function cachedUntilPartsChange<Answer>(
  tables: readonly string[],
  ask: (store: Store) => Promise<Answer>,
): CachedRead<Answer> {
  const kept = new WeakMap<Store, Kept<Answer>>();
  const partsNow = (store: Store) => store.query<PartRow>(partsOf(tables));
  const at = async (store: Store, parts: readonly PartRow[]): Promise<Answer> => {
    const known = kept.get(store);
    const name = nameOf(parts);
    const began = performance.now();
    if (known?.isOfOneServer === true && known.name === name && began - known.at < TRUSTED_MS)
      return known.answer;
    const answer = await ask(store);
    const isOfOneServer = known?.isOfOneServer ?? (await areOfOneServer(store, tables));
    // Where no part has changed meanwhile, the answer is of the parts of this name.
    if (!isOfOneServer || nameOf(await partsNow(store)) === name)
      kept.set(store, { isOfOneServer, name, at: began, answer });
    return answer;
  };
  return Object.assign(async (store: Store) => at(store, await partsNow(store)), { at });
}
