import type { Store } from './client.ts';

/** The rows of these keys that were written in a slot or behind it, by key; the others are not there. */
export type RowsSince<Row> = (
  store: Store,
  keys: readonly string[],
  since: string,
) => Promise<Map<string, Row>>;

/** @param sql names `keys` and `since` */
export const rowsSince =
  <Row>(field: keyof Row, sql: string): RowsSince<Row> =>
  async (store, keys, since) => {
    const rows = await store.query<Row>(sql, { keys, since });
    return new Map(rows.map((row) => [row[field] as string, row]));
  };
