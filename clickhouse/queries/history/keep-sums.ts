import type { Store } from '../../client.ts';
import type { QuoteHourRow } from '../../hour-tables.ts';
import { madeSums } from './protocol.ts';
import { type StepParams, stepParams } from './spans.ts';
import { inputsOfSums, storedSums } from './stored-sums.ts';
import { streamCover } from './stream-cover.ts';

/**
 * Makes and stores the sums at the ends of steps, in hours since 1970, for which none are stored that still hold.
 * @param settle resolves once every row is there whose write was counted: the engine may count a write a moment before.
 * @returns how many were made.
 */
export async function keepSums(
  store: Store,
  ends: readonly number[],
  settle: () => Promise<void>,
): Promise<number> {
  const cover = await streamCover(store, ends[0] ?? 0, ends.at(-1) ?? 0);
  const all = stepParams(ends, cover);
  if (all === null) return 0;
  const kept = await storedSums(store, all, () => true);
  if (!kept.includes(null)) return 0;
  const missing = ends.slice(kept.indexOf(null), kept.lastIndexOf(null) + 1);
  const params = stepParams(missing, cover) as StepParams;
  // `made_of` is read before the sums are made: rows that are written in between have them made again.
  const made = await inputsOfSums(store, params);
  const counted = performance.now();
  do await settle();
  while (await isWriting(store, performance.now() - counted));
  const sums = Map.groupBy(await madeSums(store, params), ({ step }) => step);
  const now = String(Date.now());
  const rows = made.map(
    (made_of, at): QuoteHourRow => ({
      hour: missing[at] as number,
      ...{ made_of, sums: JSON.stringify(sums.get(at + 1) ?? []), written_at: now },
    }),
  );
  await store.insert('quote_hours', rows);
  return rows.length;
}

/**
 * Whether an insert is under way that may have been counted `forMs` ago: an engine that stood still is not done with
 * it. Inserts into other databases of the server do not matter.
 */
async function isWriting(store: Store, forMs: number): Promise<boolean> {
  const running = await store.query(
    `SELECT 1 FROM system.processes
     WHERE query_kind = 'Insert' AND current_database = currentDatabase() AND elapsed >= {seconds:Float64} LIMIT 1`,
    { seconds: forMs / 1_000 },
  );
  return running.length > 0;
}

/** The first hour that a marker told of, in hours since 1970; null before there is one. */
export async function firstHour(store: Store): Promise<number | null> {
  const [row] = await store.query<{ hour: number | null }>('SELECT minOrNull(hour) AS hour FROM hour_slots');
  return row?.hour ?? null;
}
