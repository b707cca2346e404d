import type { VenueStatusRow } from '../../clickhouse/queries/status/venue-state.ts';
import { isoMillis } from '../../schemas/units.ts';
import { type RemoteVenue, urlVariable } from '../../schemas/venues/remote.ts';
import type { ReadSettings } from '../latest/read-deps.ts';

/** Why there is no reading of a venue that holds now; null where there is. @param readAt milliseconds of our clock */
export function unreadReason(
  venue: RemoteVenue,
  readAt: string | undefined,
  { polledVenues, readingMaxAgeMs }: ReadSettings,
  now: number,
): string | null {
  if (!polledVenues.includes(venue)) return `${urlVariable(venue)} is not set`;
  if (readAt === undefined) return 'not polled yet';
  if (now - Number(readAt) <= readingMaxAgeMs) return null;
  return `the newest reading is older than ${readingMaxAgeMs / 1000} s (${isoMillis(Number(readAt))})`;
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
