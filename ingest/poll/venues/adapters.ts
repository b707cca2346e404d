import type { EquityVenue, RemoteVenue } from '../../../schemas/venues/remote.ts';
import { readOptionsVenue, type VenueReading } from './options.ts';
import { createPerpReader } from './perp.ts';
import type { RemoteAccountReader } from './remote-account.ts';

/** How the accounts at a venue are read. */
export const ACCOUNT_READERS: Record<EquityVenue, (url: string) => RemoteAccountReader> = {
  perp: createPerpReader,
};

type OtherVenue = Exclude<RemoteVenue, EquityVenue>;

/** How a venue that tells nothing of its accounts is read as a whole. */
export const VENUE_READERS: Record<OtherVenue, (url: string, signal: AbortSignal) => Promise<VenueReading>> =
  {
    options: readOptionsVenue,
  };
