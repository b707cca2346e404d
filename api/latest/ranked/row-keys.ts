import { addKey, type Cells, type Keys } from '../cells.ts';
import type { RankedRow } from './row.ts';

/** Adds to the keys of policies those of all that a row of a ranking is made of: a page waits once for it. */
export function addRowKeys(wanted: Keys, rows: ReadonlyMap<string, RankedRow>, cells: Cells): void {
  const add = ({ address, mint, bankroll, pool }: RankedRow) => {
    const need = (kind: Parameters<typeof addKey>[1], key: string) => {
      if (cells.peek(kind, key) === undefined) addKey(wanted, kind, key);
    };
    need('policy', address);
    for (const kind of ['mint', 'totals', 'eventsOfDay'] as const) need(kind, mint);
    need('tokenAccount', bankroll);
    if (pool !== null) need('pool', pool);
  };
  for (const address of [...(wanted.get('policy') ?? [])]) {
    const row = rows.get(address);
    if (row !== undefined) add(row);
  }
}
