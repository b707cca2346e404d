import { LATEST_TABLES, type LatestTable } from '../../../clickhouse/tables.ts';
import type { SeenState, StoredRow } from './seen.ts';
import type { Stored } from './stored-states.ts';

/** What is known of an address in a table that holds it. */
export interface KnownRow {
  table: LatestTable;
  stored: StoredRow | null;
  /** The newest state in the batch so far. */
  newest: SeenState | null;
}

/** What is known of the addresses of a batch: the stored rows, and the batch's states as they are added. */
export interface KnownRows {
  /**
   * The rows that a state belongs to: that of its table or, if its table is not known, of all that hold its address.
   */
  of(seen: SeenState): readonly KnownRow[];
  all(): Iterable<KnownRow>;
}

export function createKnownRows(stored: Stored): KnownRows {
  const byKey = new Map<string, KnownRow[]>();
  const linesAt = (key: string): KnownRow[] => {
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const held = stored.get(key);
    const lines = held === undefined ? [] : [...held].map(([table, row]) => lineOf(table, row));
    byKey.set(key, lines);
    return lines;
  };
  return {
    of: ({ key, table }) => {
      const lines = linesAt(key);
      if (table === '') return lines.toSorted((a, b) => rankOf(a) - rankOf(b));
      const own = lines.find((line) => line.table === table);
      if (own !== undefined) return [own];
      const line = lineOf(table, null);
      lines.push(line);
      return [line];
    },
    all: () => [...byKey.values()].flat(),
  };
}

const lineOf = (table: LatestTable, stored: StoredRow | null): KnownRow => ({ table, stored, newest: null });
const rankOf = ({ table }: KnownRow): number => LATEST_TABLES.indexOf(table);

/** The newer of the batch's state and the stored row. */
export function lastOf({ stored, newest }: KnownRow): SeenState | StoredRow | null {
  if (stored === null || newest === null) return newest ?? stored;
  return newest.version >= BigInt(stored.version) ? newest : stored;
}
