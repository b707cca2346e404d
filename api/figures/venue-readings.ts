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
