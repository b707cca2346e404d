import { ConfigError, messageOf } from '../errors.ts';
import { upstreamWords } from '../outside/upstream.ts';

/** Postgres and ClickHouse: the user, the password, or the database that the address names. */
const LOGIN_CODES = new Set(['28P01', '28000', '3D000', '516']);

/**
 * For a server that is asked for the first time.
 * @throws ConfigError that names its variable where nobody answers or the login is refused, and anything else as it is.
 */
export function notReached(variable: string, instead = ''): (error: unknown) => never {
  return (error) => {
    const { code } = (error ?? {}) as { code?: unknown };
    if (LOGIN_CODES.has(String(code)))
      throw new ConfigError(
        `the server of ${variable} refuses the user, password or database that it names (code ${code})`,
        { cause: error },
      );
    if (isOfBroker(error))
      throw new ConfigError(
        `the brokers of ${variable} let nobody in (${messageOf(error)}): npm run doctor says what to do`,
        { cause: error },
      );
    if (!nobodyAnswers(error)) throw error;
    const words = upstreamWords(error);
    throw new ConfigError(`the server of ${variable} cannot be reached (${words}): start it${instead}`, {
      cause: error,
    });
  };
}

/** Logins, and connections that are ended before one: what the client of Kafka says of them has no code. */
const OF_BROKER = /SASLAuthentication|ConnectionClosed|SASL mechanism|SASL state/;

const isOfBroker = (error: unknown): boolean =>
  error instanceof Error &&
  error.name.startsWith('KafkaJS') &&
  OF_BROKER.test(`${error.name} ${error.message}`);

function nobodyAnswers(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return typeof code === 'string' ? /^E[A-Z]/.test(code) : cause !== undefined && nobodyAnswers(cause);
}
