import type { Store } from '../../client.ts';
import type { CarriedRow } from '../../hour-tables.ts';

/** Slots of which a stream did not bring the states of an account: behind `after`, up to `to`; null: to this day. */
export interface Uncarried {
  address: string;
  after: bigint;
  to: bigint | null;
}

/**
 * What was told of whether streams bring accounts, as the slots in which they did not. Each loss lasts until the first
 * slot behind it from which the account was brought again, in whatever order they were told.
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

/** The same in SQL, a row for each. */
export const UNCARRIED = `
  SELECT l.address AS address, l.slot AS after, if(b.slot = 0, ${UNTIL_NOW}, b.slot) AS to
  FROM (SELECT DISTINCT address, slot FROM carried_accounts WHERE carried = 0) AS l
  ASOF LEFT JOIN (SELECT address, slot FROM carried_accounts WHERE carried = 1) AS b
    ON b.address = l.address AND b.slot > l.slot`;

/** An account that no stream carries as far as it was told. */
export interface UncarriedNow {
  address: string;
  /** The first and the last slot since it was carried last that it was told to be lost behind. */
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
