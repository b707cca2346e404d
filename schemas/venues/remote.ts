import { type AssetClass, CLASS_BITS } from '../program/asset-classes.ts';

interface VenueFacts {
  /** Remote venue accounts of this class are at this venue. */
  assetClass: AssetClass;
  /** Null where the venue tells what an account holds; else the reason that is served in place of it. */
  withoutEquity: string | null;
}

/**
 * The venues that hold Remote accounts. Whatever there is of each venue (its variables, how it is asked and checked, its
 * stand-in on the local chain) is made from this table or must name every line of it to compile.
 */
export const REMOTE_VENUES = {
  perp: { assetClass: 'PERP', withoutEquity: null },
  options: { assetClass: 'OPTION', withoutEquity: 'the options venue publishes no account equity' },
} as const satisfies Record<string, VenueFacts>;

/** The name that configuration, readings and rows have for a venue; readers see its configured id. */
export type RemoteVenue = keyof typeof REMOTE_VENUES;

/** The venues whose accounts can be read. */
export type EquityVenue = {
  [V in RemoteVenue]: (typeof REMOTE_VENUES)[V]['withoutEquity'] extends null ? V : never;
}[RemoteVenue];

export const REMOTE_VENUE_NAMES = Object.keys(REMOTE_VENUES) as RemoteVenue[];

/** `perpVenueId`, `perpVenueUrl` … */
export const idSetting = <V extends RemoteVenue>(venue: V): `${V}VenueId` => `${venue}VenueId`;
export const urlSetting = <V extends RemoteVenue>(venue: V): `${V}VenueUrl` => `${venue}VenueUrl`;

/** `PERP_VENUE_ID`, `PERP_VENUE_URL` … */
export const idVariable = (venue: RemoteVenue): string => `${venue.toUpperCase()}_VENUE_ID`;
export const urlVariable = (venue: RemoteVenue): string => `${venue.toUpperCase()}_VENUE_URL`;

export const classBitOf = (venue: RemoteVenue): number => CLASS_BITS[REMOTE_VENUES[venue].assetClass];

/** The venue that holds Remote accounts of this class; null where none does. */
export function venueOfClass(assetClass: number): RemoteVenue | null {
  return REMOTE_VENUE_NAMES.find((venue) => classBitOf(venue) === assetClass) ?? null;
}

/** A value for every venue. */
export function perVenue<Name extends string, T>(
  name: (venue: RemoteVenue) => Name,
  value: (venue: RemoteVenue) => T,
): Record<Name, T> {
  return Object.fromEntries(REMOTE_VENUE_NAMES.map((venue) => [name(venue), value(venue)])) as Record<
    Name,
    T
  >;
}
