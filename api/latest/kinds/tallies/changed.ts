import { ANY, type ChangedTable, type Changes } from '../../../../clickhouse/changes.ts';

/** They travel as a bound parameter in the address of the request; of more all are read. */
const MOST_KEYS = 1_000;

/** The keys of a table that changed; null where all may have. */
export function changedKeys(changes: Changes, table: ChangedTable): string[] | null {
  const keys = changes.get(table) ?? new Set<string>();
  return keys.has(ANY) || keys.size > MOST_KEYS ? null : [...keys];
}
