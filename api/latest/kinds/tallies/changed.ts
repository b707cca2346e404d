import { ANY, type ChangedTable, type Changes } from '../../../../clickhouse/changes.ts';

/** The keys of a table that changed; null where all may have. */
export function changedKeys(changes: Changes, table: ChangedTable): string[] | null {
  const keys = changes.get(table) ?? new Set<string>();
  return keys.has(ANY) ? null : [...keys];
}
