import type { Store } from '../../../clickhouse/client.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import type { ReplayContext } from './context.ts';

/** First slots of the gaps that a database knows, and whether each is closed. */
export type KnownGaps = ReadonlyMap<string, boolean>;

export async function readKnownGaps(store: Store): Promise<KnownGaps> {
  const rows = await store.query<{ from_slot: string; closed: number }>(
    'SELECT from_slot, min(closed) AS closed FROM gaps FINAL GROUP BY from_slot ORDER BY from_slot',
  );
  return new Map(rows.map(({ from_slot, closed }) => [from_slot, Number(closed) === 1]));
}

/**
 * Says where readers are about to lose sums: the log holds a gap open that the former database has closed.
 * @param known the gaps of the former database before the end of the log was looked up
 * @throws ConfigError where the log does not speak of a gap that the former had.
 */
export async function assertGapsCovered(
  { say }: Pick<ReplayContext, 'say'>,
  former: Store,
  known: KnownGaps,
  store: Store,
): Promise<void> {
  const told = await readKnownGaps(store);
  const missing = [...known.keys()].filter((slot) => !told.has(slot));
  if (missing.length > 0)
    throw new ConfigError(
      `the log does not hold all of history: it does not speak of the one from slot ${missing.join(', ')}, which ${former.database} has. Nothing was switched.`,
    );
  const now = await readKnownGaps(former);
  // A gap that was opened again just now is open in both.
  const isOpened = (slot: string) => known.get(slot) === true && now.get(slot) === true;
  const opened = [...told].flatMap(([slot, isClosed]) => (!isClosed && isOpened(slot) ? [slot] : []));
  if (opened.length === 0) return;
  say(
    `the log holds open what ${former.database} has as read, from slot ${opened.join(', ')}: in ${store.database} sums over events are absent until ingest has read it, which it does by itself once readers are over, or npm run backfill -- --from-slot ${opened[0]}`,
  );
}
