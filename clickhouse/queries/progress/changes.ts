import { randomUUID } from 'node:crypto';
import { createBatcher } from '../../../runtime/batcher.ts';
import { addChanges, type ChangedTable, type Changes, noteKeys } from '../../changes.ts';
import type { Store } from '../../client.ts';

/** How long the table keeps changes; readers that are further behind than half of that begin anew. */
export const CHANGES_KEPT_MS = 30 * 60_000;

/**
 * Each process that wrote counts as a writer, and as a further one after each failed insert. Writers travel as a bound
 * parameter, of which a server takes 131,072 characters, encoded: a reader that has read of more of them begins anew.
 */
const MOST_WRITERS = 2_000;

/** The last number that was read of each writer. */
export type ChangePlace = ReadonlyMap<string, bigint>;

/**
 * Writes what was changed to the table of changes, one row after the other, so that no row of a writer is seen before
 * the one with the number below. After a failed insert it goes on as a new writer: the row may be there all the same,
 * and a reader that has read its number would skip another row with that number.
 */
export function createAnnouncer(store: Store): (changes: Changes) => Promise<void> {
  let writer = randomUUID();
  let last = 0n;
  return createBatcher<Changes, void>({
    work: async (all) => {
      const merged: Changes = new Map();
      for (const one of all) addChanges(merged, one);
      const keys = Object.fromEntries([...merged].map(([table, of]) => [table, [...of]]));
      try {
        await store.insert('changes', [{ writer, seq: String(last + 1n), keys: JSON.stringify(keys) }]);
        last += 1n;
      } catch (error) {
        writer = randomUUID();
        last = 0n;
        throw error;
      }
    },
    sizeOf: (changes) => [...changes.values()].reduce((sum, keys) => sum + keys.size, 0),
    most: 20_000,
    isDueToOneItem: () => false,
  });
}

/** The place behind all rows of the table of changes. */
export async function changePlace(store: Store): Promise<ChangePlace> {
  const rows = await store.query<{ writer: string; last: string }>(
    'SELECT writer, max(seq) AS last FROM changes GROUP BY writer',
  );
  return new Map(rows.map(({ writer, last }) => [writer, BigInt(last)]));
}

/** What was changed behind a place, and the place after it; changes null where some of it is gone already, or may be. */
export async function changesAfter(
  store: Store,
  place: ChangePlace,
): Promise<{ changes: Changes | null; place: ChangePlace }> {
  if (place.size > MOST_WRITERS) return { changes: null, place: await changePlace(store) };
  const rows = await store.query<{ writer: string; seq: string; keys: string }>(
    `SELECT writer, seq, keys FROM changes
     PREWHERE seq > transform(writer, {writers:Array(String)}, {seqs:Array(UInt64)}, toUInt64(0))
     ORDER BY writer, seq`,
    { writers: [...place.keys()], seqs: [...place.values()] },
  );
  const after = new Map(place);
  const changes: Changes = new Map();
  let whole = true;
  for (const { writer, seq, keys } of rows) {
    const number = BigInt(seq);
    if (number > (after.get(writer) ?? 0n) + 1n) whole = false;
    after.set(writer, number);
    for (const [table, of] of Object.entries(JSON.parse(keys) as Record<ChangedTable, string[]>))
      noteKeys(changes, table as ChangedTable, of);
  }
  return { changes: whole ? changes : null, place: after };
}
