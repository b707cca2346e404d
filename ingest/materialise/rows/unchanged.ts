import type { Store } from '../../../clickhouse/client.ts';
import type { LatestTable } from '../../../clickhouse/tables.ts';
import type { LatestRow } from './latest.ts';

/** The list travels as a bound parameter, in the address of the request. */
const ADDRESSES_PER_QUESTION = 1_000;

type StoredRow = LatestRow & Record<string, unknown>;

/**
 * Gives rows that were read over RPC, and say what is stored already, the time of what is stored: a reading of the same
 * state changes nothing. Their versions stay those of the reading, so that an older state does not replace it.
 */
export async function keepUnchanged(
  store: Store,
  tables: ReadonlyMap<LatestTable, readonly LatestRow[]>,
): Promise<void> {
  for (const [table, rows] of tables) {
    const read = new Map(rows.filter(({ source }) => source === 'rpc').map((row) => [row.address, row]));
    const all = [...read.keys()];
    for (let start = 0; start < all.length; start += ADDRESSES_PER_QUESTION) {
      const stored = await store.query<StoredRow>(
        `SELECT * FROM ${table} FINAL WHERE address IN {addresses:Array(String)}`,
        { addresses: all.slice(start, start + ADDRESSES_PER_QUESTION) },
      );
      for (const known of stored) keepTime(read.get(known.address) as StoredRow, known);
    }
  }
}

/** What of a row says when and from where it is known. */
const OF_READING = new Set(['slot', 'version', 'block_time', 'source', 'signature']);

function keepTime(row: StoredRow, known: StoredRow): void {
  if (BigInt(row.version) < BigInt(known.version) || !saysTheSame(row, known)) return;
  row.slot = known.slot;
  row.block_time = known.block_time === null ? null : Number(known.block_time);
  row.source = known.source;
  if (row.exists === 1 && 'signature' in known) row.signature = known.signature as string | null;
}

function saysTheSame(row: StoredRow, known: StoredRow): boolean {
  return Object.entries(row).every(
    ([column, value]) => OF_READING.has(column) || JSON.stringify(value) === JSON.stringify(known[column]),
  );
}
