import type { Store } from '../../client.ts';
import { AFTER_ALL_KEYS } from '../../in-order.ts';

/** Ends a question that may take its time: one thread, so that readers keep the others, and disk before memory. */
export const AT_LOW_COST = 'SETTINGS max_threads = 1, max_bytes_before_external_group_by = 200000000';

/** Mints from the first to the last, both in it. */
export interface MintRange {
  first: string;
  last: string;
}

/** Sorts before every base58 text, as `END` does after every one; the mint '' of events of no policy is left out. */
const BEFORE_ALL = ' ';

/**
 * Cuts all mints into ranges of `size` mints that have totals, in order; what lies between or behind them is in one
 * of the ranges too.
 */
export async function* mintRanges(store: Store, size: number): AsyncGenerator<MintRange> {
  for (let first = BEFORE_ALL; ; ) {
    const [row] = await store.query<{ mint: string }>(
      `SELECT mint FROM policy_totals WHERE mint >= {first:String}
       GROUP BY mint ORDER BY mint LIMIT 1 OFFSET {skip:UInt32} ${AT_LOW_COST}`,
      { first, skip: size - 1 },
    );
    yield { first, last: row?.mint ?? AFTER_ALL_KEYS };
    if (row === undefined) return;
    first = `${row.mint}${BEFORE_ALL}`;
  }
}
