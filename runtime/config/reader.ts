import { readFileSync } from 'node:fs';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { ConfigError } from '../errors.ts';

export type Environment = Record<string, string | undefined>;

const WEB = ['http:', 'https:'];

/** The URL without surrounding space and final slashes, since paths are appended to it; null where it is malformed. */
function urlOf(given: string, protocols: readonly string[]): string | null {
  const text = given.trim();
  // URL parsing skips line ends, and takes `http:host` for a URL; what uses the text later does neither.
  if (/\s/.test(text) || !/^[a-z]+:\/\//i.test(text) || !URL.canParse(text)) return null;
  return protocols.includes(new URL(text).protocol) && canLogIn(text) ? text.replace(/\/+$/, '') : null;
}

/** Whether the login in it can be decoded: it is sent without percent escapes. */
function canLogIn(url: string): boolean {
  const { protocol, username, password, pathname } = new URL(url);
  const isPostgres = !WEB.includes(protocol);
  // The Postgres client decodes the database name too, and takes a lone % literally.
  if (isPostgres && /%(?![\da-f]{2})/i.test(url)) return true;
  try {
    decodeURIComponent(`${username}:${password}${isPostgres ? pathname : ''}`);
    return true;
  } catch {
    return false;
  }
}

const bareUrlOf = (text: string, protocols: readonly string[]) =>
  /[?#]/.test(text) ? null : urlOf(text, protocols);

/** Whether it ends with a port that can be connected to. */
function isPort(address: string): boolean {
  const port = Number(/:(\d{1,5})\/*$/.exec(address)?.[1] ?? 0);
  return port >= 1 && port <= 65_535;
}

/** Methods that read one variable of the environment each, in a given form. Those that are unset are null. */
export function reader(env: Environment) {
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
  /** Files and variables alike are often written with a line end, which no login has. */
  const secret = (name: string): string | null => any(name)?.replace(/[\r\n]+$/, '') ?? null;
  const checked = <T>(name: string, want: string, parse: (value: string) => T | null): T | null => {
    const value = any(name);
    if (value === null) return null;
    const parsed = parse(value);
    // The value is not repeated: it may be a secret.
    const escaped = /:\/\/.*%/s.test(value) ? ', a % of its login written %25' : '';
    if (parsed === null) throw new ConfigError(`${name} is malformed: it must be ${want}${escaped}`);
    return parsed;
  };
  return {
    any,
    secret,
    token: (name: string) => {
      const value = secret(name);
      if (value !== null && !/^[ -~]*$/.test(value))
        throw new ConfigError(`${name} is malformed: it must be of printable ASCII`);
      return value;
    },
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
    /**
     * The Postgres client treats each of these modes as verify-full too, unless uselibpqcompat is set, but prints
     * warnings about it.
     */
    postgres: (name: string) =>
      checked(name, 'a URL of postgres:// or postgresql://', (value) => {
        const url = urlOf(value, ['postgres:', 'postgresql:']);
        return url === null || /[?&]uselibpqcompat=true(&|$)/.test(url)
          ? url
          : url.replaceAll(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/g, '$1verify-full');
      }),
    /** Paths are appended to it: behind a query they would be part of that. */
    base: (name: string, protocols: readonly string[] = WEB) =>
      checked(name, `a URL of ${protocols.join('// or ')}// without a query or a fragment`, (value) =>
        bareUrlOf(value, protocols),
      ),
    urls: (name: string) =>
      checked(name, `URLs of ${WEB.join(' or ')}//, comma-separated`, (value) => {
        const urls = value.split(',').map((text) => urlOf(text, WEB));
        return urls.every((url) => url !== null) ? urls : null;
      }),
    /** It stands in every challenge, so it may hold no login. */
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
    /** The Kafka client takes what stands before the first colon for the host: an IPv6 address does not work. */
    brokers: (name: string) =>
      checked(name, 'comma-separated host:port, each host a name or an IPv4 address', (value) => {
        const brokers = value.split(',').map((broker) => broker.trim());
        return brokers.every((broker) => /^[\w.-]+:\d{1,5}$/.test(broker) && isPort(broker)) ? brokers : null;
      }),
  };
}
