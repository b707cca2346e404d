import type { Config } from '../runtime/config.ts';
import { idSetting, perVenue } from '../schemas/venues/remote.ts';
import type { ReadSettings } from './latest/read-deps.ts';

/** What the read routes know of the configuration. */
export function readSettings(config: Config): ReadSettings {
  const { serviceName, programId, launchpadProgramId, ammProgramId } = config;
  const { launchpadVenueId, ammVenueId } = config;
  return {
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
