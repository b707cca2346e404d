import type { RemoteVenue } from '../../../schemas/venues/remote.ts';

interface Told {
  /** As readers see it. */
  name: string;
  /** The class of the accounts that are at it. */
  bit: number;
  /** Whether it tells what an account holds. */
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
