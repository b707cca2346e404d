import type { Store } from '../../client.ts';

/** What names a table of one server as it stands: a part is never changed, and none has the name of one that was. */
export interface PartRow {
  of: string;
  part: string;
}

/** Rows that tell it of some tables, at the cost of a table without rows. */
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

/** Of replicas each has come to parts of its own, and of two questions either may be answered by another. */
const ONE_SERVER = 'ReplacingMergeTree';

async function areOfOneServer(store: Store, tables: readonly string[]): Promise<boolean> {
  const rows = await store.query(
    `SELECT name FROM system.tables
     WHERE database = currentDatabase() AND name IN {tables:Array(String)} AND engine = {engine:String}`,
    { tables, engine: ONE_SERVER },
  );
  return rows.length === tables.length;
}

/** A server that lost what it had acknowledged, or all of the table, may give a name again. */
const TRUSTED_MS = 60_000;

/** The answer is shared: nobody changes it. */
export interface UnmovedRead<Answer> {
  (store: Store): Promise<Answer>;
  /** For who was told the parts with something else: of that moment or a later one. */
  at(store: Store, parts: readonly PartRow[]): Promise<Answer>;
}

interface Kept<Answer> {
  isOfOneServer: boolean;
  name: string;
  at: number;
  answer: Answer;
}

/** A question over all rows of tables that hardly ever change, asked again once one of them has moved: an insert or a merge. */
export function whileUnmoved<Answer>(
  tables: readonly string[],
  ask: (store: Store) => Promise<Answer>,
): UnmovedRead<Answer> {
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
    // Where nothing has moved meanwhile, what was read is what they name.
    if (!isOfOneServer || nameOf(await partsNow(store)) === name)
      kept.set(store, { isOfOneServer, name, at: began, answer });
    return answer;
  };
  return Object.assign(async (store: Store) => at(store, await partsNow(store)), { at });
}
