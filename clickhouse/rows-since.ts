import type { Store } from './client.ts';

/** The rows of these keys that were written or read again in a slot or behind it, by key; no others. */
export type RowsSince<Row> = (
  store: Store,
  keys: readonly string[],
  since: string,
) => Promise<Map<string, Row>>;

/**
 * By version, which is highest in the newest row. Not by slot: a reading that repeats an older state has the slot of
 * that state, and a row that it replaced may have a higher one.
 */
export const SINCE = 'PREWHERE version >= bitShiftLeft(toUInt128({since:UInt64}), 64)';

/** @param sql names `keys` and `since` */
export const rowsSince =
  <Row>(field: keyof Row, sql: string): RowsSince<Row> =>
  async (store, keys, since) => {
    const rows = await store.query<Row>(sql, { keys, since });
    return new Map(rows.map((row) => [row[field] as string, row]));
  };
