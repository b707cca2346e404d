import { ClickHouseError } from '@clickhouse/client';

export const UNKNOWN_TABLE = '60';

/** No rows where the schema is one of before, without the table: who only reads finds such. @throws what is no such error */
export function noRowsOfNoTable(error: unknown): [] {
  if (error instanceof ClickHouseError && error.code === UNKNOWN_TABLE) return [];
  throw error;
}
