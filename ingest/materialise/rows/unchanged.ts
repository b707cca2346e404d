import type { Store } from '../../../clickhouse/client.ts';
import type { StateRow, UnseenRow } from '../../../clickhouse/tables.ts';
import { chunks } from '../../../runtime/chunks.ts';
import type { LatestRow, LatestRows, PlacedRow } from './latest.ts';

/** The list travels as a bound parameter, in the address of the request. */
export const ADDRESSES_PER_QUESTION = 1_000;

type StoredRow = LatestRow & Record<string, unknown>;

/**
 * Gives rows that were read over RPC, and say what is stored already, the time of what is stored: a reading of the same
 * state changes nothing. Their versions stay those of the reading, so that an older state does not replace it.
 * @returns changes that the first readings of the batch brought to light, and readings of before what is stored.
 */
export async function keepUnchanged(
  store: Store,
  { closings, readFirst }: Pick<LatestRows, 'closings' | 'readFirst'>,
): Promise<{ unseen: UnseenRow[]; behind: PlacedRow[] }> {
  const read = new Set([...closings, ...readFirst].filter(({ row, opens }) => opens && row.source === 'rpc'));
  const firsts = new Set(readFirst.map(({ row }) => row));
  const unseen: UnseenRow[] = [];
  const behind: PlacedRow[] = [];
  for (const [table, placed] of Map.groupBy(read, ({ table }) => table)) {
    if (table === '') continue;
    const rows = Map.groupBy(placed, ({ row }) => row.address);
    for (const addresses of chunks([...rows.keys()], ADDRESSES_PER_QUESTION)) {
      const stored = await store.query<StoredRow>(
        `SELECT * FROM ${table} FINAL WHERE address IN {addresses:Array(String)}`,
        { addresses },
      );
      for (const known of stored)
        for (const one of rows.get(known.address) ?? []) {
          const row = one.row as StoredRow;
          if (BigInt(row.version) < BigInt(known.version)) behind.push(one);
          else if (saysTheSame(row, known)) keepTime(row, known);
          else if (firsts.has(row)) unseen.push(unseenChange(row, known.version));
        }
    }
  }
  return { unseen, behind };
}

/** A reading that says another than what was known as of a version. */
export const unseenChange = ({ address, slot }: StateRow, knownVersion: string): UnseenRow => ({
  address,
  after_slot: (BigInt(knownVersion) >> 64n).toString(),
  to_slot: slot,
});

/** What of a row says when and from where it is known. */
const OF_READING = new Set(['slot', 'version', 'block_time', 'source', 'signature']);

function keepTime(row: StoredRow, known: StoredRow): void {
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
