import type { Store } from '../../../../clickhouse/client.ts';
import { HOUR_COLUMNS } from '../../../../clickhouse/tables.ts';
import { chunks } from '../../../../runtime/chunks.ts';
import type { PlacedRow, StoredRow } from '../seen.ts';
import { ADDRESSES_PER_QUESTION } from '../stored-states.ts';
import { isKept } from './hours.ts';

type Stored = Pick<StoredRow, 'address' | 'version' | 'block_time' | 'exists'> & {
  slot: string | null;
} & Record<string, unknown>;

/**
 * Readings that say what is stored of their hours already are given the time stored there, or the slot whose time is to
 * be told: a batch that comes again finds later states in place of those that its readings repeated the first time.
 */
export async function keepUnchangedHours(store: Store, placed: readonly PlacedRow[]): Promise<void> {
  const kept = placed.filter(
    ({ table, hour, novelty }) => novelty === 'behind' && hour !== null && isKept(table),
  );
  for (const some of chunks(kept, ADDRESSES_PER_QUESTION)) {
    const stored = await store.query<Stored>(
      `SELECT * FROM account_hours FINAL
       WHERE (address, hour) IN arrayZip({addresses:Array(String)}, {hours:Array(UInt32)})`,
      { addresses: some.map(({ row }) => row.address), hours: some.map(({ hour }) => hour as number) },
    );
    const byKey = new Map(stored.map((row) => [`${row.hour} ${row.address}`, row]));
    for (const one of some) {
      const known = byKey.get(`${one.hour} ${one.row.address}`);
      if (known === undefined || known.version !== one.row.version || !saysTheSame(one, known)) continue;
      one.row.block_time = known.block_time === null ? null : Number(known.block_time);
      if (known.slot !== null) one.row.slot = known.slot;
    }
  }
}

function saysTheSame({ table, row }: PlacedRow, known: Stored): boolean {
  if (row.exists !== known.exists || !isKept(table)) return false;
  if (row.exists === 0 || table === '') return true;
  const state = row as unknown as Record<string, unknown>;
  return HOUR_COLUMNS[table].every((column) => String(state[column]) === String(known[column]));
}
