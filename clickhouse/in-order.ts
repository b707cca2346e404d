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
