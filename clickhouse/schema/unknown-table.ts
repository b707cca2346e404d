import { ClickHouseError } from '@clickhouse/client';

export const UNKNOWN_TABLE = '60';

/** No rows where an older schema lacks the table, as a process that only reads may find it. @throws any other error */
export function emptyWhereTableIsMissing(error: unknown): [] {
  if (error instanceof ClickHouseError && error.code === UNKNOWN_TABLE) return [];
  throw error;
}
