import type { PriceRow } from '../../clickhouse/queries/states/prices.ts';
import type { AgentPost } from '../../schemas/responses/coin/posts.ts';
import type { RemoteVenue } from '../../schemas/venues/remote.ts';
import type { Latest } from './latest.ts';

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

/** Newest first; `total` counts all posts of the mint. */
export type ReadPosts = (
  mint: string,
  limit: number,
  offset: number,
) => Promise<{ total: number; posts: AgentPost[] }>;

/** Posts of all mints by their numbers, which grow; one may become visible behind a higher one. */
export interface NumberedPosts {
  /** 0 before the first. */
  newest(): Promise<bigint>;
  /** Oldest first. */
  behind(after: bigint, most: number): Promise<AgentPost[]>;
}

export interface ReadDeps {
  latest: Latest;
  settings: ReadSettings;
  /** Null where there is no agent side: every feed is empty. */
  readPosts: ReadPosts | null;
}
