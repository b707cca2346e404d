import type { Params, Store } from './client.ts';

/** Keys in their order: those behind one, up to another, so many rows of them at most. */
export interface Stretch {
  behind: string;
  last: string;
  most: number;
}

/** What is behind every key. */
export const END = '~';

/** The rows of a stretch, in the order of their keys, as lines whose first column is the key. */
export type InOrder = (store: Store, stretch: Stretch, params?: Params) => Promise<string>;

/** That a column holds keys of the stretch. */
export const WITHIN = (column: string): string =>
  `${column} > {behind:String} AND ${column} <= {last:String}`;

/** @param sql names `behind`, `last` and `most` */
export const inOrder =
  (sql: string): InOrder =>
  (store, { behind, last, most }, params = {}) =>
    store.lines(sql, { ...params, behind, last, most });

/**
 * The same of a table that grows with history: all of it is read for a few of its keys.
 * @throws Error where it has more rows than are worth it
 */
export const inOrderUpTo =
  (mostRows: number, table: 'events' | 'policy_transactions', sql: string): InOrder =>
  async (store, stretch, params) => {
    const [found] = await store.query<{ rows: string }>(`SELECT count() AS rows FROM ${table}`);
    if (Number(found?.rows) > mostRows) throw new Error(`${table} has more than ${mostRows} rows`);
    return inOrder(sql)(store, stretch, params);
  };
