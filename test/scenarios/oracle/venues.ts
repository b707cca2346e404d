import type { RemoteVenue } from '../../../schemas/venues/remote.ts';

interface Told {
  /** Its name in answers. */
  name: string;
  /** Asset class of the accounts at this venue. */
  bit: number;
  /** Whether the venue answers what an account holds. */
  equity: boolean;
}

/** What is expected of each venue, written down a second time and not from the service's table. */
const BY_VENUE: Record<RemoteVenue, Told> = {
  perp: { name: 'perp_venue', bit: 16, equity: true },
  options: { name: 'options_venue', bit: 32, equity: false },
};

export const VENUES: readonly Told[] = Object.values(BY_VENUE);

const ofClass = (assetClass: number) => VENUES.find(({ bit }) => bit === assetClass);

export const venueOf = (assetClass: number): string | null => ofClass(assetClass)?.name ?? null;
export const hasEquity = (assetClass: number): boolean => ofClass(assetClass)?.equity ?? false;
