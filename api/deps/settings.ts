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
  /** Venues whose URL is configured: others have no reading, even where one was stored before. */
  polledVenues: readonly RemoteVenue[];
  /** Price sources whose URL is configured; `catalogue` is the source of the pair catalogue too. */
  pricesFrom: readonly PriceRow['source'][];
  /** Readings of venues that are older than this are absent. */
  readingMaxAgeMs: number;
}
