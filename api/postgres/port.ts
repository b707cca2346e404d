export type SqlValue = string | number | boolean | null | readonly string[];

export interface Queries {
  /** Rows of one statement; parameters are `$1`, `$2`, …. 64-bit integers and times are to be asked for as text. */
  query<Row>(sql: string, params?: readonly SqlValue[]): Promise<Row[]>;
}

export interface Transaction extends Queries {
  /** Several statements without parameters. */
  run(sql: string): Promise<void>;
}

/** A Postgres, a server or embedded: the same statements run on both. */
export interface Db extends Queries {
  /** For queries of public readers, however many: on a server they have connections of their own. */
  readers: Queries;
  /** All of it or nothing: a throw inside rolls back and is thrown on. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Maintenance that a server does by itself: only the embedded engine has it. */
  tidy?(): Promise<void>;
  close(): Promise<void>;
}
