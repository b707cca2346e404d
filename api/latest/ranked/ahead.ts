import { addKey, type Cells, type Keys } from '../cells.ts';
import type { RankedRow } from './row.ts';

/** Policies that are read along with those that somebody waits for: it takes the engine hardly longer. */
const MOST_AHEAD = 1_000;

/**
 * Adds to the keys of policies those of all that a row of a ranking is made of, and policies that nobody has asked for
 * yet: a ranking is read page by page, and each page that lacks something waits for a turn.
 * @param others goes on where it was left; each policy is read ahead once
 */
export function addAhead(
  wanted: Keys,
  rows: ReadonlyMap<string, RankedRow>,
  others: Iterator<RankedRow>,
  cells: Cells,
): void {
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
  for (let more = 0; more < MOST_AHEAD && !cells.isFilling('policy'); ) {
    const next = others.next();
    if (next.done === true) return;
    if (next.value.gone || cells.peek('policy', next.value.address) !== undefined) continue;
    add(next.value);
    more += 1;
  }
}
