import type { Params, Store } from './client.ts';

/** A query with its parameters; the caller that asks it decides in which form the rows come. */
export interface Question<Row> {
  readonly sql: string;
  readonly params: Params;
  /** Only carries the type of the rows; never set. */
  readonly row?: Row;
}

/** @throws ClickHouseError */
export const ask = <Row>(store: Store, { sql, params }: Question<Row>): Promise<Row[]> =>
  store.query(sql, params);

/**
 * The same rows, to be gone through once. Each is parsed when it is reached: as objects, many rows take twice their
 * text.
 * @throws ClickHouseError
 */
export async function askInLines<Row>(
  store: Store,
  { sql, params }: Question<Row>,
): Promise<IterableIterator<Row>> {
  return rowsOf(await store.lines(sql, params));
}

function* rowsOf<Row>(text: string): IterableIterator<Row> {
  let names: readonly string[] | null = null;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const values = JSON.parse(text.slice(at, end)) as unknown[];
    at = end + 1;
    if (names === null) {
      names = values as string[];
      continue;
    }
    const row: Record<string, unknown> = {};
    for (let column = 0; column < names.length; column += 1) row[names[column] as string] = values[column];
    yield row as Row;
  }
}
