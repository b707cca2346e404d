import type { Config } from '../runtime/config/config.ts';
import { idSetting, perVenue, REMOTE_VENUE_NAMES, urlSetting } from '../schemas/venues/remote.ts';
import type { ReadSettings } from './deps/settings.ts';

/** A reading holds for so many intervals of polling, and for a minute at least. */
const INTERVALS = 4;
const LEAST_MAX_AGE_MS = 60_000;

const PRICE_SETTINGS = [
  { source: 'catalogue', setting: 'launchpadCatalogueUrl' },
  { source: 'second', setting: 'priceUrl' },
] as const;

/** What the read routes know of the configuration. */
export function readSettings(config: Config): ReadSettings {
  const { serviceName, programId, launchpadProgramId, ammProgramId } = config;
  const { launchpadVenueId, ammVenueId } = config;
  return {
    polledVenues: REMOTE_VENUE_NAMES.filter((venue) => config[urlSetting(venue)] !== null),
    pricesFrom: PRICE_SETTINGS.filter(({ setting }) => config[setting] !== null).map(({ source }) => source),
    readingMaxAgeMs: Math.max(INTERVALS * config.pollIntervalMs, LEAST_MAX_AGE_MS),
    serviceName,
    programId,
    launchpadProgramId,
    ammProgramId,
    ...perVenue(idSetting, (venue) => config[idSetting(venue)]),
    launchpadVenueId,
    ammVenueId,
  };
}
