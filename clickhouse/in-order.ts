import type { Params, Store } from './client.ts';

/** Keys in their order: those behind one, up to another, so many rows of them at most. */
export interface Stretch {
  behind: string;
  last: string;
  most: number;
  /** Somebody waits for it: what takes the engine long is left for later. */
  isAwaited?: boolean;
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

/** A tenth of a second of the engine. */
const MOST_AWAITED = 500_000;

/** What was asked for has more rows than are worth it. */
export class NotWorthError extends Error {
  override name = 'NotWorthError';
}

/** So many rows of what is read are worth it. @throws NotWorthError where there are more */
export function checkWorth(rows: number, most: number, { isAwaited }: Stretch): void {
  const limit = isAwaited === true ? Math.min(most, MOST_AWAITED) : most;
  if (rows > limit) throw new NotWorthError(`there are ${rows} rows, more than ${limit}`);
}

/**
 * The same of a table that grows with history: as much of it is read for a few of its keys.
 * @param from what is read, as FROM has it: its rows are counted first
 * @throws NotWorthError where they are more than are worth it
 */
export const inOrderUpTo =
  (mostRows: number, from: string, sql: string): InOrder =>
  async (store, stretch, params = {}) => {
    const [found] = await store.query<{ rows: string }>(`SELECT count() AS rows FROM ${from}`, params);
    checkWorth(Number(found?.rows), mostRows, stretch);
    return inOrder(sql)(store, stretch, params);
  };
