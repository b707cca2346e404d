import type { Store } from '../../client.ts';
import type { CarriedRow } from '../../hour-tables.ts';

/** Slots of which no stream brought every state of an account: behind `after`, up to `to`; null: until now. */
export interface Uncarried {
  address: string;
  after: bigint;
  to: bigint | null;
}

/**
 * The slots in which accounts were not carried, out of the rows that say behind which slots they were lost, and from
 * which on carried again. Each loss lasts until the first such slot behind it, whatever the order of the rows.
 */
export function uncarried(told: readonly CarriedRow[]): Uncarried[] {
  const slots = (rows: readonly CarriedRow[], carried: 0 | 1) =>
    rows.flatMap((row) => (row.carried === carried ? [BigInt(row.slot)] : []));
  return [...Map.groupBy(told, ({ address }) => address)].flatMap(([address, rows]) => {
    const begins = slots(rows, 1).sort((one, other) => (one < other ? -1 : 1));
    return slots(rows, 0).map((after) => ({
      ...{ address, after },
      to: begins.find((slot) => slot > after) ?? null,
    }));
  });
}

const UNTIL_NOW = 'toUInt64(18446744073709551615)';

/** The same in SQL, a row for each loss. */
export const UNCARRIED = `
  SELECT l.address AS address, l.slot AS after, if(b.slot = 0, ${UNTIL_NOW}, b.slot) AS to
  FROM (SELECT DISTINCT address, slot FROM carried_accounts WHERE carried = 0) AS l
  ASOF LEFT JOIN (SELECT address, slot FROM carried_accounts WHERE carried = 1) AS b
    ON b.address = l.address AND b.slot > l.slot`;

/** An account that no stream carries now, as far as the log has told. */
export interface UncarriedNow {
  address: string;
  /** Of the slots behind which it was lost since it was carried last, the first and the last. */
  first: bigint;
  last: bigint;
}

export async function uncarriedNow(store: Store): Promise<UncarriedNow[]> {
  const rows = await store.query<{ address: string; first: string; last: string }>(
    `SELECT address, toString(arrayMin(arrayFilter(slot -> slot >= begun, losses))) AS first,
       toString(arrayMax(losses)) AS last
     FROM (SELECT address, maxIf(slot, carried = 1) AS begun, groupUniqArrayIf(slot, carried = 0) AS losses
           FROM carried_accounts GROUP BY address HAVING notEmpty(losses) AND arrayMax(losses) >= begun)`,
  );
  return rows.map(({ address, first, last }) => ({ address, first: BigInt(first), last: BigInt(last) }));
}
