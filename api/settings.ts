import type { Config } from '../runtime/config.ts';
import { idSetting, perVenue, REMOTE_VENUE_NAMES, urlSetting } from '../schemas/venues/remote.ts';
import type { ReadSettings } from './latest/read-deps.ts';

/** A reading holds for so many intervals of polling, and for a minute at least. */
const INTERVALS = 4;
const LEAST_MAX_AGE_MS = 60_000;

/** What the read routes know of the configuration. */
export function readSettings(config: Config): ReadSettings {
  const { serviceName, programId, launchpadProgramId, ammProgramId } = config;
  const { launchpadVenueId, ammVenueId } = config;
  return {
    polledVenues: REMOTE_VENUE_NAMES.filter((venue) => config[urlSetting(venue)] !== null),
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

/** Texts of the configuration that no answer may hold; whole URLs, because keys stand in their paths too. */
export function secretsOf(config: Config): string[] {
  const { clickhouseUrl, postgresUrl, solanaRpcUrl, yellowstoneEndpoint } = config;
  const urls = [clickhouseUrl, postgresUrl, ...(solanaRpcUrl ?? []), yellowstoneEndpoint];
  const passwords = urls.map((url) => (url !== null && URL.canParse(url) ? new URL(url).password : null));
  const all = [
    config.yellowstoneXToken,
    config.kafkaSaslPassword,
    ...urls,
    ...passwords,
    ...passwords.map((password) => (password === null ? null : decodeURIComponent(password))),
  ];
  return all.filter((text) => text !== null && text !== '') as string[];
}
