import { createBatcher } from '../runtime/batcher.ts';
import type { Store } from './client.ts';
import { isRefusal } from './coalesce.ts';

/** Keys in one question: they travel as a bound parameter in the address of the request. */
const MOST_KEYS = 2_000;
/** How long a question that the store does not answer holds up the next one. */
const PATIENCE_MS = 250;

/**
 * One question at a time to a store, shared by all callers: a call that comes while one is under way gets the answer of
 * the next one, so that no answer is older than its call.
 */
export function sharedRead<Answer>(
  ask: (store: Store) => Promise<Answer>,
): (store: Store) => Promise<Answer> {
  const reads = perStore((store) =>
    createBatcher<null, Answer>({
      work: () => ask(store),
      sizeOf: () => 0,
      most: 0,
      isDueToOneItem: () => false,
      patienceMs: PATIENCE_MS,
    }),
  );
  return (store) => reads(store)(null);
}

/** The rows of these keys, by key; a key without rows is left out. Rows are shared: callers must not change them. */
export type Lookup<Row> = (store: Store, keys: readonly string[]) => Promise<Map<string, readonly Row[]>>;

/**
 * The same by keys: the keys that are asked for while a question is under way make up the next one.
 * @param field the field of a row that holds its key.
 */
export function sharedLookup<Row>(
  field: keyof Row,
  ask: (store: Store, keys: string[]) => Promise<Row[]>,
): Lookup<Row> {
  const lookups = perStore((store) =>
    createBatcher<readonly string[], Map<unknown, Row[]>>({
      work: async (all) => Map.groupBy(await ask(store, [...new Set(all.flat())]), (row) => row[field]),
      sizeOf: (keys) => keys.length,
      most: MOST_KEYS,
      isDueToOneItem: isRefusal,
      patienceMs: PATIENCE_MS,
    }),
  );
  return async (store, keys) => {
    if (keys.length === 0) return new Map();
    const found = await lookups(store)(keys);
    return new Map(
      keys.map((key) => [key, found.get(key) ?? []] as const).filter(([, rows]) => rows.length > 0),
    );
  };
}

/** A lookup of keys that have one row each. */
export function sharedRows<Row>(
  field: keyof Row,
  ask: (store: Store, keys: string[]) => Promise<Row[]>,
): (store: Store, keys: readonly string[]) => Promise<Map<string, Row>> {
  const look = sharedLookup(field, ask);
  return async (store, keys) => {
    const found = await look(store, keys);
    return new Map([...found].map(([key, [row]]) => [key, row as Row]));
  };
}

function perStore<T>(make: (store: Store) => T): (store: Store) => T {
  const made = new WeakMap<Store, T>();
  return (store) => {
    const known = made.get(store) ?? make(store);
    made.set(store, known);
    return known;
  };
}
