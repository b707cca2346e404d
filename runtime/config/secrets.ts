import { REMOTE_VENUE_NAMES, urlSetting } from '../../schemas/venues/remote.ts';
import type { Config } from './config.ts';

/** Shorter parts of a path are words, not keys. */
const SHORTEST_KEY = 16;

/**
 * Texts of the configuration that no answer and no line of a log may hold; for stores and nodes that is the whole
 * address, because paths may hold keys too.
 */
export function secretsOf(config: Config): string[] {
  const { clickhouseUrl, postgresUrl, solanaRpcUrl, yellowstoneEndpoint } = config;
  const whole = [clickhouseUrl, postgresUrl, ...(solanaRpcUrl ?? []), yellowstoneEndpoint];
  const venues = REMOTE_VENUE_NAMES.map((venue) => config[urlSetting(venue)]);
  const urls = [...whole, ...venues, config.launchpadCatalogueUrl, config.priceUrl, config.ipfsGateway];
  const all = [
    config.yellowstoneXToken,
    config.kafkaSaslPassword,
    ...whole,
    ...urls.flatMap((url) => (url !== null && URL.canParse(url) ? keysOf(new URL(url)) : [])),
  ];
  // The longest first: removing a secret from the middle of a longer one would leave parts of that readable.
  const secrets = new Set(all.filter((text) => text !== null && text !== '') as string[]);
  return [...secrets].sort((one, other) => other.length - one.length);
}

/** The parts of an address that may be keys, in each form in which they are sent. */
function keysOf({ username, password, pathname, searchParams }: URL): string[] {
  const [user, pass] = [decoded(username), decoded(password)];
  const login = username + password === '' ? [] : [Buffer.from(`${user}:${pass}`).toString('base64')];
  // A user name without a password may be a key.
  const parts = [...pathname.split('/'), ...searchParams.values(), password === '' ? username : ''];
  const keys = parts.filter(({ length }) => length >= SHORTEST_KEY);
  return [...login, password, pass, ...keys, ...keys.map(decoded)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

let ofThisProcess: readonly string[] = [];

/** From now on nothing that this process prints, logs or keeps of others' answers holds a secret of its configuration. */
export function redactSecretsOf(config: Config): void {
  ofThisProcess = secretsOf(config);
}

/** The text without the secrets of this process's configuration, and without logins of addresses. */
export function redacted(text: string): string {
  return withoutSecrets(text, ofThisProcess);
}

/** Whether a text may be served as it is. */
export function holdsNoSecret(text: string): boolean {
  return redacted(text) === text;
}

/** Bytes of an upstream without the secrets of this process's configuration: an upstream may repeat its request. */
export function redactedBytes(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1');
  const clean = redacted(text);
  return clean === text ? bytes : Buffer.from(clean, 'latin1');
}

/** Bounded in each part: otherwise a text from outside could make the matching take arbitrarily long. */
const LOGIN = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@"'<>\\]+@/gi;

/** The text without these secrets, in any of the forms in which they may stand in it, and without logins of addresses. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let hidden = text;
  for (const secret of secrets) {
    for (const form of new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]))
      if (form !== '') hidden = hidden.replaceAll(form, '***');
  }
  return hidden.replace(LOGIN, '$1');
}

/** The host that an address leads to, without the credentials in it. */
export function shownHost(endpoint: string): string {
  const url = endpoint.includes('://') ? endpoint : `http://${endpoint}`;
  return URL.canParse(url) ? new URL(url).host : 'as configured';
}
