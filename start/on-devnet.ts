import type { Config } from '../runtime/config/config.ts';
import type { Environment } from '../runtime/config/reader.ts';
import { isSet } from '../runtime/config/variables.ts';
import { perVenue, urlSetting } from '../schemas/venues/remote.ts';
import type { DevnetAddresses } from './devnet-child.ts';

/**
 * What the devnet serves stands in for everything that is not set.
 * @param env shows which of the settings that have a default were set all the same
 */
export function onDevnet(config: Config, devnet: DevnetAddresses, env: Environment = process.env): Config {
  return {
    ...config,
    yellowstoneEndpoint: devnet.geyser,
    solanaRpcUrl: config.solanaRpcUrl ?? [devnet.rpc],
    programId: isSet('PROGRAM_ID', env) ? config.programId : devnet.programId,
    ...perVenue(urlSetting, (venue) => config[urlSetting(venue)] ?? devnet[venue]),
    launchpadCatalogueUrl: config.launchpadCatalogueUrl ?? devnet.catalogue,
    priceUrl: config.priceUrl ?? devnet.price,
    metadataAllowPrivate: isSet('METADATA_ALLOW_PRIVATE', env) ? config.metadataAllowPrivate : true,
  };
}
