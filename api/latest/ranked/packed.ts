declare const OF: unique symbol;
/** The values of a row as one text, without its names: the garbage collector passes one object, not thirty. */
export type Packed<Row> = string & { readonly [OF]: Row };

export interface Packing<Row extends object, Known extends keyof Row> {
  pack(row: Row | undefined): Packed<Row> | null;
  /** @param known what the text leaves out */
  unpack(text: Packed<Row> | null, known: Pick<Row, Known>): Row | undefined;
}

/** For rows that all have the same columns, as those of one query. @param without columns that are known anyway */
export function packing<Row extends object, const Known extends keyof Row>(
  ...without: readonly Known[]
): Packing<Row, Known> {
  const left: ReadonlySet<PropertyKey> = new Set(without);
  let columns: (keyof Row)[] = [];
  return {
    pack: (row) => {
      if (row === undefined) return null;
      if (columns.length === 0)
        columns = (Object.keys(row) as (keyof Row)[]).filter((name) => !left.has(name));
      return JSON.stringify(columns.map((name) => row[name])) as Packed<Row>;
    },
    unpack: (text, known) => {
      if (text === null) return undefined;
      const values = JSON.parse(text) as Row[keyof Row][];
      const row = { ...known } as Partial<Row>;
      for (let at = 0; at < columns.length; at += 1) row[columns[at] as keyof Row] = values[at];
      return row as Row;
    },
  };
}
