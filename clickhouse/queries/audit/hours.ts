import type { Store } from '../../client.ts';
import { HOUR_COLUMNS, type HourTable } from '../../tables.ts';
import { AT_LOW_COST } from './ranges.ts';

/** A column of an account's last closing state that says another than its latest state. */
export interface HourDifference {
  address: string;
  column: string;
  kept: string;
  latest: string;
  slot: string;
  /** Of the latest state. */
  version: string;
}

/**
 * For the accounts of a table: how many columns of their last closing states were compared, and which of them differ
 * from what is served now.
 * @param addresses compares these alone; empty: all of them.
 */
export async function lastHours(
  store: Store,
  table: HourTable,
  addresses: readonly string[],
): Promise<{ compared: number; differences: HourDifference[] }> {
  const columns = ['exists', ...HOUR_COLUMNS[table]];
  const pairs = (of: string, when: string) =>
    columns.map(
      (name) =>
        `('${name}', toString(${name === 'exists' ? `${of}.${name}` : `if(${when}, ${of}.${name}, NULL)`}))`,
    );
  const those = (column: string) => (addresses.length === 0 ? '1' : `${column} IN {addresses:Array(String)}`);
  const rows = await store.query<{
    compared: number;
    address: string;
    found: [string, string, string][];
    slot: string;
    version: string;
  }>(
    `SELECT l.address AS address, l.slot AS slot, toString(l.version) AS version, arrayFilter(c -> c.2 != c.3, arrayMap((h, l) -> (h.1, ifNull(h.2, ''), ifNull(l.2, '')),
         [${pairs('h', 'h.exists = 1').join(', ')}], [${pairs('l', 'l.exists = 1').join(', ')}])) AS found
     FROM ${table} AS l FINAL
     JOIN (
       SELECT * FROM account_hours FINAL
       WHERE ${those('address')} AND (address, version) IN (
         SELECT address, max(version) FROM account_hours WHERE ${those('address')} GROUP BY address)) AS h ON h.address = l.address
     WHERE ${those('l.address')}
       -- An hour is written first. Of a slot without a time none is known.
       AND h.version <= l.version
       AND NOT (l.block_time IS NULL AND l.version > h.version)
     ${AT_LOW_COST}`,
    { addresses },
  );
  const differences = rows.flatMap(({ address, slot, version, found }) =>
    found.map(([column, kept, latest]) => ({ address, column, kept, latest, slot, version })),
  );
  return { compared: rows.length * columns.length, differences };
}

export const HOUR_COUNTERS = ['fees_claimed', 'profit_swept', 'tokens_burned'] as const;
export type HourCounter = (typeof HOUR_COUNTERS)[number];

/** A closing state of a policy beside the sums of its events up to the slot in which it was seen. */
export type CountedHour = { address: string; mint: string; hour: number; slot: string } & Record<
  HourCounter | `events_${HourCounter}`,
  string
>;

/** The counted hours of the policies of these mints. */
export function countedHours(store: Store, mints: readonly string[]): Promise<CountedHour[]> {
  const running = (name: string) =>
    `toString(sum(a.${name}) OVER (PARTITION BY a.mint ORDER BY a.slot, a.is_state
       ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS events_${name}`;
  return store.query<CountedHour>(
    `SELECT * FROM (
       SELECT a.is_state AS is_state, a.address AS address, a.mint AS mint, a.hour AS hour, toString(a.slot) AS slot,
         a.stored.1 AS fees_claimed, a.stored.2 AS profit_swept, a.stored.3 AS tokens_burned,
         ${HOUR_COUNTERS.map(running).join(', ')}
       FROM (
         SELECT e.mint AS mint, e.slot AS slot, 0 AS is_state, '' AS address, 0 AS hour, ('', '', '') AS stored,
           if(e.kind = 'FeesClaimed', toUInt128(e.amount_a), 0) AS fees_claimed,
           if(e.kind = 'ProfitSwept', toUInt128(e.amount_b) + e.amount_c, 0) AS profit_swept,
           multiIf(e.kind = 'BuybackBurned', toUInt128(e.amount_b), e.kind = 'BaseLegBurned', e.amount_a, 0) AS tokens_burned
         FROM events AS e FINAL WHERE e.mint IN {mints:Array(String)}
         UNION ALL
         SELECT p.mint, toUInt64(bitShiftRight(h.version, 64)), 1, h.address, h.hour,
           (toString(h.fees_claimed), toString(h.profit_swept), toString(h.tokens_burned)),
           toUInt128(0), toUInt128(0), toUInt128(0)
         FROM account_hours AS h FINAL
         JOIN (SELECT address, mint FROM policies FINAL WHERE mint IN {mints:Array(String)}) AS p ON p.address = h.address
         WHERE h.exists = 1 AND h.address IN (SELECT address FROM policies WHERE mint IN {mints:Array(String)})) AS a)
     WHERE is_state = 1 ORDER BY address, hour ${AT_LOW_COST}`,
    { mints },
  );
}
