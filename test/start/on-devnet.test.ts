import { expect, test } from 'vitest';
import { readConfig } from '../../runtime/config/config.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { perVenue, urlSetting, urlVariable } from '../../schemas/venues/remote.ts';
import type { DevnetAddresses } from '../../start/devnet-child.ts';
import { onDevnet } from '../../start/on-devnet.ts';

const DEVNET: DevnetAddresses = {
  ...perVenue(
    (venue) => venue,
    (venue) => `http://devnet/${venue}`,
  ),
  ...{ geyser: 'http://devnet:1', rpc: 'http://devnet:2', catalogue: 'http://devnet/catalogue' },
  ...{ price: 'http://devnet/price', programId: encodeBase58(Buffer.alloc(32, 7)) },
  ...{ agent: { mint: 'mint', keyFile: 'agent.json' }, speaker: null },
};
const of = (env: Record<string, string>) => onDevnet(readConfig(env), DEVNET, env);

test('settings that are not set are those of the local chain', () => {
  expect(of({})).toMatchObject({
    ...perVenue(urlSetting, (venue) => DEVNET[venue]),
    ...{ solanaRpcUrl: [DEVNET.rpc], launchpadCatalogueUrl: DEVNET.catalogue, priceUrl: DEVNET.price },
    ...{ programId: DEVNET.programId, metadataAllowPrivate: true },
  });
});

test('settings that are set stay as they are, also where they equal the default', () => {
  const { programId } = readConfig({});
  const env = {
    ...perVenue(urlVariable, (venue) => `https://${venue}.example`),
    ...{ SOLANA_RPC_URL: 'https://node.example', PROGRAM_ID: programId, METADATA_ALLOW_PRIVATE: 'false' },
    ...{ LAUNCHPAD_CATALOGUE_URL: 'https://pairs.example', PRICE_URL: 'https://prices.example' },
  };
  expect(of(env)).toEqual({ ...readConfig(env), yellowstoneEndpoint: DEVNET.geyser });
});
