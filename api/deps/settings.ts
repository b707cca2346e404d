import type { PriceRow } from '../../clickhouse/queries/states/prices.ts';
import type { RemoteVenue } from '../../schemas/venues/remote.ts';

/** `perpVenueId` … */
type VenueIds = { [V in RemoteVenue as `${V}VenueId`]: string };

/** What the read routes know of the configuration. */
export interface ReadSettings extends VenueIds {
  serviceName: string;
  /** Base58. */
  programId: string;
  /** Base58; the protocol's config account overrides both where it is known. */
  launchpadProgramId: string;
  ammProgramId: string;
  launchpadVenueId: string;
  ammVenueId: string;
  /** Venues whose address is configured: of others there is no reading, whatever was once read. */
  polledVenues: readonly RemoteVenue[];
  /** Sources of prices whose address is configured; the catalogue of pairs is the first one's. */
  pricesFrom: readonly PriceRow['source'][];
  /** Older readings of venues are absent. */
  readingMaxAgeMs: number;
}
