import type { ReadSettings } from '../latest/read-deps.ts';

export const PERP_CLASS = 16;
export const OPTION_CLASS = 32;

/** The venues that hold Remote accounts, and the asset class each holds. */
export function remoteVenues(settings: ReadSettings) {
  return [
    { id: settings.perpVenueId, assetClass: PERP_CLASS, reader: 'perp' },
    { id: settings.optionsVenueId, assetClass: OPTION_CLASS, reader: 'options' },
  ] as const;
}

/** Configured id of the venue that holds Remote accounts of this class; null for any other class. */
export function venueOfClass(settings: ReadSettings, assetClass: number): string | null {
  return remoteVenues(settings).find((venue) => venue.assetClass === assetClass)?.id ?? null;
}
