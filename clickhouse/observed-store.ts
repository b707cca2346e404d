import type { Store } from './client.ts';

/** The same store, which calls `heard` after each answer. */
export function observed(store: Store, heard: () => void): Store {
  return {
    ...store,
    query: async (sql, params) => {
      const rows = await store.query<never>(sql, params);
      heard();
      return rows;
    },
    lines: async (sql, params) => {
      const text = await store.lines(sql, params);
      heard();
      return text;
    },
  };
}
