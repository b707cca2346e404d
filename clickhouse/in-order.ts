import type { Params, Store } from './client.ts';

/** A range of keys in their order: those behind `behind`, up to `last`, and at most `most` rows of them. */
export interface KeyRange {
  behind: string;
  last: string;
  most: number;
  /** A request waits for it: questions that take the engine long are left for later. */
  isAwaited?: boolean;
}

/** Sorts behind every key. */
export const AFTER_ALL_KEYS = '~';

/** The rows of a stretch, in the order of their keys, as lines whose first column is the key. */
export type InOrder = (store: Store, stretch: KeyRange, params?: Params) => Promise<string>;

/** The condition that a column holds a key of the stretch. */
export const keyWithin = (column: string): string =>
  `${column} > {behind:String} AND ${column} <= {last:String}`;

/** @param sql names `behind`, `last` and `most` */
export const inOrder =
  (sql: string): InOrder =>
  (store, { behind, last, most }, params = {}) =>
    store.lines(sql, { ...params, behind, last, most });

/** Most rows to read while a request waits: a tenth of a second of the engine. */
const MOST_AWAITED = 500_000;

/** A question would read more rows than its answer is worth. */
export class TooManyRowsError extends Error {
  override name = 'TooManyRowsError';
}

/** Checks how many rows a question would read. @throws TooManyRowsError where they are more than its answer is worth */
export function mustBeWorthReading(rows: number, most: number, { isAwaited }: KeyRange): void {
  const limit = isAwaited === true ? Math.min(most, MOST_AWAITED) : most;
  if (rows > limit) throw new TooManyRowsError(`there are ${rows} rows, more than ${limit}`);
}

/**
 * The same for a table that grows with history, of which as much is read for few keys as for many.
 * @param from what is read, as FROM has it: its rows are counted first
 * @throws TooManyRowsError where they are more than `mostRows`, or than are read while a request waits
 */
export const inOrderUpTo =
  (mostRows: number, from: string, sql: string): InOrder =>
  async (store, stretch, params = {}) => {
    const [found] = await store.query<{ rows: string }>(`SELECT count() AS rows FROM ${from}`, params);
    mustBeWorthReading(Number(found?.rows), mostRows, stretch);
    return inOrder(sql)(store, stretch, params);
  };
