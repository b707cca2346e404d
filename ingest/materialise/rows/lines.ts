import { LATEST_TABLES, type LatestTable } from '../../../clickhouse/tables.ts';
import type { Seen, StoredRow } from './seen.ts';
import type { Stored } from './stored.ts';

/** What is known of an address in a table that holds it. */
export interface Line {
  table: LatestTable;
  stored: StoredRow | null;
  /** Of the batch, so far. */
  newest: Seen | null;
}

/** The lines of a batch, which go on from what is stored. */
export interface Lines {
  /** Those that a state belongs to: that of its table; where nothing says of which it is, of all that hold its address. */
  of(seen: Seen): readonly Line[];
  all(): Iterable<Line>;
}

export function createLines(stored: Stored): Lines {
  const byKey = new Map<string, Line[]>();
  const linesAt = (key: string): Line[] => {
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

const lineOf = (table: LatestTable, stored: StoredRow | null): Line => ({ table, stored, newest: null });
const rankOf = ({ table }: Line): number => LATEST_TABLES.indexOf(table);

/** The newest of batch and store. */
export function lastOf({ stored, newest }: Line): Seen | StoredRow | null {
  if (stored === null || newest === null) return newest ?? stored;
  return newest.version >= BigInt(stored.version) ? newest : stored;
}
