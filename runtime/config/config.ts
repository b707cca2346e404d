import { DEVNET_PROGRAM_ID } from '../../schemas/program/devnet-program.ts';
import {
  idSetting,
  idVariable,
  perVenue,
  type RemoteVenue,
  urlSetting,
  urlVariable,
} from '../../schemas/venues/remote.ts';
import { ConfigError } from '../errors.ts';
import { type Environment, reader } from './reader.ts';

/** `perpVenueId`, `perpVenueUrl` … of every venue. */
type RemoteVenueSettings = { [V in RemoteVenue as `${V}VenueId`]: string } & {
  [V in RemoteVenue as `${V}VenueUrl`]: string | null;
};

/** All that can be set, read once at start. Null is "unset". */
export interface Config extends RemoteVenueSettings {
  serviceName: string;
  /** Null: the address that the API listens on. */
  publicUrl: string | null;
  host: string;
  port: number;
  metricsPort: number | null;
  dataDir: string;
  logLevel: string;
  programId: string;
  launchpadProgramId: string;
  ammProgramId: string;
  yellowstoneEndpoint: string | null;
  yellowstoneXToken: string | null;
  commitment: 'confirmed' | 'finalized';
  /** The preferred one first. */
  solanaRpcUrl: readonly string[] | null;
  programStartSlot: bigint;
  kafkaBrokers: string[] | null;
  kafkaTopicPrefix: string;
  kafkaTls: boolean;
  kafkaSaslMechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' | null;
  kafkaSaslUsername: string | null;
  kafkaSaslPassword: string | null;
  kafkaPartitions: number;
  kafkaReplication: number | null;
  kafkaRetentionMs: string;
  clickhouseUrl: string | null;
  clickhouseCluster: string | null;
  postgresUrl: string | null;
  launchpadVenueId: string;
  ammVenueId: string;
  launchpadCatalogueUrl: string | null;
  priceUrl: string | null;
  pollIntervalMs: number;
  ipfsGateway: string | null;
  metadataAllowPrivate: boolean;
  trustProxy: number;
}

/** It stands in paths as well as in keys: `..` would lead out of the path. */
const VENUE_ID = /^(?!\.+$)[A-Za-z0-9_.-]{1,64}$/;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * Reads the environment.
 * @throws ConfigError that names the first variable that is malformed.
 */
export function readConfig(env: Environment): Config {
  const read = reader(env);
  const ids = new Map<string, string>();
  const id = (name: string, unset: string) => {
    const own = read.text(name, VENUE_ID, 'a name of letters, digits, . _ -, not of dots alone') ?? unset;
    const other = ids.get(own);
    // Of two venues under one key, one would be served in place of the other.
    if (other !== undefined)
      throw new ConfigError(
        `${read.any(name) === null ? other : name} is malformed: it must be a name that no other venue has`,
      );
    ids.set(own, name);
    return own;
  };
  return {
    serviceName:
      read.text('SERVICE_NAME', /^[a-z0-9.-]{1,64}$/, '1 to 64 of a-z 0-9 . -') ?? 'bankroll-indexer',
    publicUrl: read.publicUrl('PUBLIC_URL'),
    host: read.text('HOST', /^[\w.:-]{1,255}$/, 'a host name or address') ?? '127.0.0.1',
    port: read.whole('PORT', 0, 65_535) ?? 8080,
    metricsPort: read.whole('METRICS_PORT', 0, 65_535),
    dataDir: read.any('DATA_DIR') ?? './data',
    logLevel: read.oneOf('LOG_LEVEL', LEVELS) ?? 'info',
    programId: read.key('PROGRAM_ID') ?? DEVNET_PROGRAM_ID,
    launchpadProgramId: read.key('LAUNCHPAD_PROGRAM_ID') ?? 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj',
    ammProgramId: read.key('AMM_PROGRAM_ID') ?? 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C',
    yellowstoneEndpoint: read.endpoint('YELLOWSTONE_ENDPOINT'),
    yellowstoneXToken: read.token('YELLOWSTONE_X_TOKEN'),
    commitment: read.oneOf('COMMITMENT', ['confirmed', 'finalized'] as const) ?? 'confirmed',
    solanaRpcUrl: read.urls('SOLANA_RPC_URL'),
    programStartSlot: BigInt(read.whole('PROGRAM_START_SLOT', 0, 999_999_999_999) ?? 0),
    kafkaBrokers: read.brokers('KAFKA_BROKERS'),
    kafkaTopicPrefix:
      read.text('KAFKA_TOPIC_PREFIX', /^[A-Za-z0-9._-]{1,200}$/, 'letters, digits, . _ -') ?? 'bankroll',
    kafkaTls: read.flag('KAFKA_TLS') ?? false,
    // Brokers themselves write these names in capitals.
    kafkaSaslMechanism: read.oneOf(
      'KAFKA_SASL_MECHANISM',
      ['plain', 'scram-sha-256', 'scram-sha-512'] as const,
      (value) => value.toLowerCase(),
    ),
    kafkaSaslUsername: read.secret('KAFKA_SASL_USERNAME'),
    kafkaSaslPassword: read.secret('KAFKA_SASL_PASSWORD'),
    kafkaPartitions: read.whole('KAFKA_PARTITIONS', 1, 10_000) ?? 12,
    kafkaReplication: read.whole('KAFKA_REPLICATION', 1, 100),
    kafkaRetentionMs:
      read.text('KAFKA_RETENTION_MS', /^(-1|\d{1,15})$/, 'milliseconds, or -1 for ever') ?? '-1',
    clickhouseUrl: read.clickhouse('CLICKHOUSE_URL'),
    clickhouseCluster: read.text('CLICKHOUSE_CLUSTER', /^[\w.-]{1,64}$/, 'a cluster name'),
    postgresUrl: read.postgres('POSTGRES_URL'),
    ...perVenue(idSetting, (venue) => id(idVariable(venue), `${venue}_venue`)),
    ...perVenue(urlSetting, (venue) => read.base(urlVariable(venue))),
    launchpadVenueId: id('LAUNCHPAD_VENUE_ID', 'launchpad_venue'),
    ammVenueId: id('AMM_VENUE_ID', 'amm_venue'),
    launchpadCatalogueUrl: read.base('LAUNCHPAD_CATALOGUE_URL'),
    priceUrl: read.base('PRICE_URL'),
    pollIntervalMs: read.whole('POLL_INTERVAL_MS', 1, 999_999_999_999) ?? 15_000,
    ipfsGateway: read.base('IPFS_GATEWAY', ['https:']),
    metadataAllowPrivate: read.flag('METADATA_ALLOW_PRIVATE') ?? false,
    trustProxy: read.whole('TRUST_PROXY', 0, 100) ?? 0,
  };
}

/** PUBLIC_URL, else the URL of the address that the API listens on. */
export function publicUrlOf({ publicUrl, host }: Config, port: number): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * The values of settings that this process cannot do without.
 * @param uses what each of them is for
 * @throws ConfigError that names all which are not set, in the order of `uses`.
 */
export function required<K extends keyof Config>(
  config: Config,
  uses: Record<K, string>,
): { [N in K]: NonNullable<Config[N]> } {
  const missing = (Object.entries(uses) as [K, string][]).filter(([setting]) => config[setting] === null);
  if (missing.length > 0)
    throw new ConfigError(
      missing.map(([setting, use]) => `${variableOf(setting)} is not set: ${use}`).join('; '),
    );
  return config as { [N in K]: NonNullable<Config[N]> };
}

/** `KAFKA_BROKERS` of `kafkaBrokers`. */
const variableOf = (setting: string) => setting.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
