import type { Store } from '../../client.ts';
import { AT_LOW_COST, type MintRange } from './ranges.ts';

/**
 * The two tables of events as one list, `side` 1 for the one by mint. Events that were taken out are not in it: where
 * another event has the place of one, the table by slot has that other one alone.
 */
const BOTH = `
  SELECT mint, slot, signature, toInt8(1) AS side, amount_a, amount_b, amount_c, amount_d,
    cityHash64(slot, signature, position, has_index, ifNull(block_time, -1), kind, actor, quote_mint,
      amount_a, amount_b, amount_c, amount_d, log_partition) AS print
  FROM events FINAL
  WHERE mint >= {first:String} AND mint <= {last:String} AND kind != ''
  UNION ALL
  SELECT mint, slot, signature, toInt8(-1), amount_a, amount_b, amount_c, amount_d,
    cityHash64(slot, signature, position, has_index, ifNull(block_time, -1), kind, actor, quote_mint,
      amount_a, amount_b, amount_c, amount_d, log_partition)
  FROM events_by_slot FINAL
  WHERE mint >= {first:String} AND mint <= {last:String} AND kind != ''`;

/** The mints whose events differ between the tables, and how many mints were compared. */
export async function differingMints(
  store: Store,
  { first, last }: MintRange,
): Promise<{ mints: string[]; compared: number }> {
  const [row] = await store.query<{ mints: string[]; compared: string }>(
    `SELECT groupArrayIf(mint, differs) AS mints, toString(count()) AS compared
     FROM (SELECT mint, groupBitXor(print) != 0 OR sum(side) != 0 AS differs FROM (${BOTH}) GROUP BY mint)
     ${AT_LOW_COST}`,
    { first, last },
  );
  return { mints: row?.mints ?? [], compared: Number(row?.compared ?? 0) };
}

/** The first transaction on which the tables differ. */
export interface DifferingEvent {
  slot: string;
  signature: string;
  /** Number of the mint's events up to that slot and the sum of all their amounts, in the table by mint. */
  by_mint: string;
  /** The same in the table by slot. */
  by_slot: string;
}

export async function firstDifferingEvent(store: Store, mint: string): Promise<DifferingEvent | null> {
  const [row] = await store.query<{ slot: string; signature: string }>(
    `SELECT slot, signature FROM (${BOTH})
     GROUP BY slot, signature HAVING groupBitXor(print) != 0 OR sum(side) != 0
     ORDER BY slot, signature LIMIT 1
     ${AT_LOW_COST}`,
    { first: mint, last: mint },
  );
  if (row === undefined) return null;
  const [sums] = await store.query<{ by_mint: string; by_slot: string }>(
    `SELECT concat(toString(countIf(side = 1)), ' events of ',
         toString(sumIf(toUInt128(amount_a) + amount_b + amount_c + amount_d, side = 1))) AS by_mint,
       concat(toString(countIf(side = -1)), ' events of ',
         toString(sumIf(toUInt128(amount_a) + amount_b + amount_c + amount_d, side = -1))) AS by_slot
     FROM (${BOTH}) WHERE slot <= {slot:UInt64}
     ${AT_LOW_COST}`,
    { first: mint, last: mint, slot: row.slot },
  );
  return { ...row, by_mint: sums?.by_mint ?? '', by_slot: sums?.by_slot ?? '' };
}
