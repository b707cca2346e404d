import {
  classBitOf,
  idSetting,
  REMOTE_VENUE_NAMES,
  type RemoteVenue,
  venueOfClass,
} from '../../schemas/venues/remote.ts';
import type { ReadSettings } from '../deps/settings.ts';

/** The venues that hold Remote accounts: their configured ids, and the asset class each holds. */
export function remoteVenues(
  settings: ReadSettings,
): { venue: RemoteVenue; id: string; assetClass: number }[] {
  return REMOTE_VENUE_NAMES.map((venue) => ({
    venue,
    id: settings[idSetting(venue)],
    assetClass: classBitOf(venue),
  }));
}

/** Configured id of the venue that holds Remote accounts of this class; null for any other class. */
export function venueIdOfClass(settings: ReadSettings, assetClass: number): string | null {
  const venue = venueOfClass(assetClass);
  return venue === null ? null : settings[idSetting(venue)];
}
