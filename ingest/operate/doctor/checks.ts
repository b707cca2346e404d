import type { Config } from '../../../runtime/config/config.ts';
import { proxyAdvice } from '../../../runtime/config/proxy-advice.ts';
import type { SlotTime } from '../../../runtime/rpc/same-chain.ts';
import { REMOTE_VENUE_NAMES, urlSetting, urlVariable } from '../../../schemas/venues/remote.ts';
import type { Finding } from './finding.ts';
import { checkKafka } from './kafka.ts';
import { logIn } from './kafka-login.ts';
import { checkRpc } from './rpc.ts';
import { CLICKHOUSE_ADVICE, KAFKA_ADVICE, POSTGRES_ADVICE, withAdvice } from './server-advice.ts';
import { checkClickHouse, checkPostgres } from './stores.ts';
import { checkStream } from './stream.ts';
import { checkCatalogue, checkGateway, checkPrices, VENUE_CHECKS } from './venues.ts';

/** One endpoint that the configuration may name. */
export interface Check {
  /** The variable that names it, with a number where that names several. */
  variable: string;
  /** Asks the endpoint for something that it must know; null where none is configured. @returns words or lines on it */
  run: ((signal: AbortSignal) => Promise<string | readonly Finding[]>) | null;
}

type Ask<T> = (value: T, signal: AbortSignal) => Promise<string | readonly Finding[]>;

function check<T>(variable: string, value: T | null, ask: Ask<T>): Check {
  return { variable, run: value === null ? null : (signal) => ask(value, signal) };
}

/** A check of every endpoint, in the order in which a deployment needs them. */
export function checksOf(config: Config): Check[] {
  const advice = proxyAdvice(config);
  const heard = Promise.withResolvers<SlotTime | null>();
  if (config.yellowstoneEndpoint === null) heard.resolve(null);
  const rpcUrls = config.solanaRpcUrl ?? [null];
  return [
    check('YELLOWSTONE_ENDPOINT', config.yellowstoneEndpoint, (endpoint, signal) =>
      checkStream(endpoint, config, signal, heard.resolve),
    ),
    ...rpcUrls.map((one, at) =>
      check(rpcUrls.length === 1 ? 'SOLANA_RPC_URL' : `SOLANA_RPC_URL ${at + 1}`, one, (url, signal) =>
        checkRpc(url, config, signal, heard.promise),
      ),
    ),
    check('KAFKA_BROKERS', config.kafkaBrokers, (brokers, signal) =>
      withAdvice(KAFKA_ADVICE, async () => {
        const answering = await checkKafka(brokers, config.kafkaTls, signal);
        const [entered, ...more] = await logIn(config, signal);
        return [{ mark: 'ok', text: `${answering}, ${entered?.text}` }, ...more];
      }),
    ),
    check('CLICKHOUSE_URL', config.clickhouseUrl, (url, signal) =>
      withAdvice(CLICKHOUSE_ADVICE, () => checkClickHouse(url, config.clickhouseCluster, signal)),
    ),
    check('POSTGRES_URL', config.postgresUrl, (url) => withAdvice(POSTGRES_ADVICE, () => checkPostgres(url))),
    ...REMOTE_VENUE_NAMES.map((venue) =>
      check(urlVariable(venue), config[urlSetting(venue)], VENUE_CHECKS[venue]),
    ),
    check('LAUNCHPAD_CATALOGUE_URL', config.launchpadCatalogueUrl, checkCatalogue),
    check('PRICE_URL', config.priceUrl, checkPrices),
    check('IPFS_GATEWAY', config.ipfsGateway, checkGateway),
    ...(advice === null ? [] : [check('TRUST_PROXY', advice, (wrong) => Promise.reject(new Error(wrong)))]),
  ];
}
