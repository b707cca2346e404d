import { readFileSync } from 'node:fs';
import { DEVNET_PROGRAM_ID } from '../../schemas/program/devnet-program.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import {
  idSetting,
  idVariable,
  perVenue,
  type RemoteVenue,
  urlSetting,
  urlVariable,
} from '../../schemas/venues/remote.ts';
import { ConfigError } from '../errors.ts';

export type Environment = Record<string, string | undefined>;

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

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * Reads the environment.
 * @throws ConfigError that names the first variable that is malformed.
 */
export function readConfig(env: Environment): Config {
  const read = reader(env);
  const ids = new Map<string, string>();
  const id = (name: string, unset: string) => {
    const own = read.text(name, /^[A-Za-z0-9_.-]{1,64}$/, 'a name of letters, digits, . _ -') ?? unset;
    const other = ids.get(own);
    // Two venues under one key: the one would be served in place of the other.
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
    yellowstoneXToken: read.any('YELLOWSTONE_X_TOKEN'),
    commitment: read.oneOf('COMMITMENT', ['confirmed', 'finalized'] as const) ?? 'confirmed',
    solanaRpcUrl: read.urls('SOLANA_RPC_URL'),
    programStartSlot: BigInt(read.whole('PROGRAM_START_SLOT', 0, 999_999_999_999) ?? 0),
    kafkaBrokers: read.brokers('KAFKA_BROKERS'),
    kafkaTopicPrefix:
      read.text('KAFKA_TOPIC_PREFIX', /^[A-Za-z0-9._-]{1,200}$/, 'letters, digits, . _ -') ?? 'bankroll',
    kafkaTls: read.flag('KAFKA_TLS') ?? false,
    // Brokers' own names for them are in capitals.
    kafkaSaslMechanism: read.oneOf(
      'KAFKA_SASL_MECHANISM',
      ['plain', 'scram-sha-256', 'scram-sha-512'] as const,
      (value) => value.toLowerCase(),
    ),
    kafkaSaslUsername: read.any('KAFKA_SASL_USERNAME'),
    kafkaSaslPassword: read.any('KAFKA_SASL_PASSWORD'),
    kafkaPartitions: read.whole('KAFKA_PARTITIONS', 1, 10_000) ?? 12,
    kafkaReplication: read.whole('KAFKA_REPLICATION', 1, 100),
    kafkaRetentionMs:
      read.text('KAFKA_RETENTION_MS', /^(-1|\d{1,15})$/, 'milliseconds, or -1 for ever') ?? '-1',
    clickhouseUrl: read.clickhouse('CLICKHOUSE_URL'),
    clickhouseCluster: read.text('CLICKHOUSE_CLUSTER', /^[\w.-]{1,64}$/, 'a cluster name'),
    postgresUrl: read.url('POSTGRES_URL', ['postgres:', 'postgresql:']),
    ...perVenue(idSetting, (venue) => id(idVariable(venue), `${venue}_venue`)),
    ...perVenue(urlSetting, (venue) => read.base(urlVariable(venue))),
    launchpadVenueId: id('LAUNCHPAD_VENUE_ID', 'launchpad_venue'),
    ammVenueId: id('AMM_VENUE_ID', 'amm_venue'),
    launchpadCatalogueUrl: read.base('LAUNCHPAD_CATALOGUE_URL'),
    priceUrl: read.base('PRICE_URL'),
    pollIntervalMs: read.whole('POLL_INTERVAL_MS', 100, 86_400_000) ?? 15_000,
    ipfsGateway: read.base('IPFS_GATEWAY', ['https:']),
    metadataAllowPrivate: read.flag('METADATA_ALLOW_PRIVATE') ?? false,
    trustProxy: read.whole('TRUST_PROXY', 0, 100) ?? 0,
  };
}

/** The API's own address, where it listens on `port`. */
export function publicUrlOf({ publicUrl, host }: Config, port: number): string {
  return publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The value of a setting that this process cannot do without. @throws ConfigError */
export function required<T>(value: T | null, name: string, use: string): T {
  if (value === null) throw new ConfigError(`${name} is not set: ${use}`);
  return value;
}

const WEB = ['http:', 'https:'];

/** Without what surrounds it: something is put behind it. */
function urlOf(given: string, protocols: readonly string[]): string | null {
  const text = given.trim();
  // The parser passes over line ends, and takes `http:host` for a URL: what is made of one later does not.
  if (/\s/.test(text) || !/^[a-z]+:\/\//i.test(text) || !URL.canParse(text)) return null;
  return protocols.includes(new URL(text).protocol) ? text.replace(/\/+$/, '') : null;
}

const bareUrlOf = (text: string, protocols: readonly string[]) =>
  /[?#]/.test(text) ? null : urlOf(text, protocols);

/** Whether it ends with a port that can be connected to. */
function isPort(address: string): boolean {
  const port = Number(/:(\d{1,5})\/*$/.exec(address)?.[1] ?? 0);
  return port >= 1 && port <= 65_535;
}

function reader(env: Environment) {
  const any = (name: string): string | null => {
    const file = env[`${name}_FILE`];
    if (env[name] !== undefined && env[name] !== '') return env[name];
    if (file === undefined || file === '') return null;
    try {
      return readFileSync(file, 'utf8').trim();
    } catch (error) {
      throw new ConfigError(`${name}_FILE cannot be read: ${(error as Error).message}`);
    }
  };
  const checked = <T>(name: string, want: string, parse: (value: string) => T | null): T | null => {
    const value = any(name);
    if (value === null) return null;
    const parsed = parse(value);
    // The value is not repeated: it may be a secret.
    if (parsed === null) throw new ConfigError(`${name} is malformed: it must be ${want}`);
    return parsed;
  };
  return {
    any,
    text: (name: string, form: RegExp, want: string) =>
      checked(name, want, (value) => (form.test(value) ? value : null)),
    whole: (name: string, least: number, most: number) =>
      checked(name, `a whole number from ${least} to ${most}`, (value) => {
        const number = Number(value);
        return /^\d{1,12}$/.test(value) && number >= least && number <= most ? number : null;
      }),
    oneOf: <T extends string>(name: string, values: readonly T[], asWritten = (value: string) => value) =>
      checked(
        name,
        `one of ${values.join(', ')}`,
        (value) => values.find((known) => known === asWritten(value)) ?? null,
      ),
    flag: (name: string) =>
      checked(name, 'true or false', (value) =>
        value === 'true' || value === 'false' ? value === 'true' : null,
      ),
    key: (name: string) =>
      checked(name, 'a base58 public key', (value) => (decodeKey(value) === null ? null : value)),
    url: (name: string, protocols: readonly string[]) =>
      checked(name, `a URL of ${protocols.join('// or ')}//`, (value) => urlOf(value, protocols)),
    /** What is asked for is put behind it: behind a query it would be part of that. */
    base: (name: string, protocols: readonly string[] = WEB) =>
      checked(name, `a URL of ${protocols.join('// or ')}// without a query or a fragment`, (value) =>
        bareUrlOf(value, protocols),
      ),
    urls: (name: string) =>
      checked(name, `URLs of ${WEB.join(' or ')}//, comma-separated`, (value) => {
        const urls = value.split(',').map((text) => urlOf(text, WEB));
        return urls.every((url) => url !== null) ? urls : null;
      }),
    /** It stands in every challenge. */
    publicUrl: (name: string) =>
      checked(name, 'a URL of http:// or https:// without a login', (value) => {
        const url = urlOf(value, WEB);
        return url === null || new URL(url).username !== '' || new URL(url).password !== '' ? null : url;
      }),
    clickhouse: (name: string) =>
      checked(
        name,
        'http(s)://user:password@host:port/database, the database of letters, digits and _',
        (value) => {
          const url = bareUrlOf(value, WEB);
          return url !== null && /^\/?$|^\/[A-Za-z_]\w{0,63}$/.test(new URL(url).pathname) ? url : null;
        },
      ),
    endpoint: (name: string) =>
      checked(name, 'host:port or an http(s) URL', (value) => {
        const text = value.trim();
        const whole = text.includes('://');
        const url = urlOf(whole ? text : `http://${text}`, WEB);
        return url !== null && (whole || isPort(text)) ? text.replace(/\/+$/, '') : null;
      }),
    brokers: (name: string) =>
      checked(name, 'comma-separated host:port', (value) => {
        const brokers = value.split(',').map((broker) => broker.trim());
        return brokers.every((broker) => /^[\w.[\]:-]+:\d{1,5}$/.test(broker) && isPort(broker))
          ? brokers
          : null;
      }),
  };
}
