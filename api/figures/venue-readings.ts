import type { VenueStatusRow } from '../../clickhouse/queries/status/venue-state.ts';
import { isoMillis } from '../../schemas/units.ts';
import { type RemoteVenue, urlVariable } from '../../schemas/venues/remote.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { MAX_AHEAD_MS } from './times.ts';

/** Why a venue has no reading that is current; null where it has. @param readAt unix milliseconds of our clock */
export function unreadReason(
  venue: RemoteVenue,
  readAt: string | undefined,
  { polledVenues, readingMaxAgeMs }: ReadSettings,
  now: number,
): string | null {
  if (!polledVenues.includes(venue)) return `${urlVariable(venue)} is not set`;
  if (readAt === undefined) return 'not polled yet';
  return agedReason(Number(readAt), readingMaxAgeMs, now);
}

/** Why a reading of that time is not current; null where it is. */
export function agedReason(readAt: number, maxAgeMs: number, now: number): string | null {
  if (now - readAt > maxAgeMs)
    return `the newest reading is older than ${maxAgeMs / 1000} s (${isoMillis(readAt)})`;
  // Our clock was set back since. Later readings get earlier times, so this stays the newest until its time has come.
  if (readAt - now > MAX_AHEAD_MS)
    return `the newest reading has a time that is still to come (${isoMillis(readAt)})`;
  return null;
}

/** Unix milliseconds at which `agedReason` next answers otherwise. */
export function agesAt(readAt: number, maxAgeMs: number, now: number): number {
  const moments = [readAt - MAX_AHEAD_MS, readAt + maxAgeMs + 1];
  return moments.find((moment) => moment > now) ?? Number.POSITIVE_INFINITY;
}

/** Why a venue that is polled was never read. */
export function neverReadReason(
  venue: RemoteVenue,
  statuses: readonly VenueStatusRow[],
  settings: ReadSettings,
): string {
  if (!settings.polledVenues.includes(venue)) return `${urlVariable(venue)} is not set`;
  const bad = statuses.find((row) => row.venue === venue && row.ok === 0);
  return bad === undefined ? 'not polled yet' : `never answered: ${bad.error ?? 'no reply'}`;
}
