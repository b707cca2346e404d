import { ConfigError, messageOf } from '../errors.ts';
import { upstreamWords } from '../outside/upstream.ts';

/** Postgres and ClickHouse: the user, the password, or the database that the address names. */
const LOGIN_CODES = new Set(['28P01', '28000', '3D000', '516', '81']);

/**
 * For a server that is asked for the first time.
 * @throws ConfigError that names its variable where nobody answers or the login is refused, and anything else as it is.
 */
export function notReached(variable: string, instead = ''): (error: unknown) => never {
  return (error) => {
    const { code } = (error ?? {}) as { code?: unknown };
    if (typeof code === 'string' && LOGIN_CODES.has(code))
      throw new ConfigError(
        `the server of ${variable} refuses the user, password or database that it names (code ${code})`,
        { cause: error },
      );
    if (isOfBroker(error))
      throw new ConfigError(
        `the brokers of ${variable} let nobody in (${messageOf(error)}): npm run doctor says what to do`,
        { cause: error },
      );
    if (!nobodyAnswers(error)) {
      if (!isOfFile(error)) throw error;
      throw new ConfigError(`${variable} names a file that cannot be read: ${error.message}`, {
        cause: error,
      });
    }
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

/** What the system says of a way to somebody, of a name, or of what is spoken there: of a file it has codes of the same form. */
const ON_THE_WAY =
  /^(ECONN[A-Z]+|EPIPE|EPROTO|ETIMEDOUT|ENOTFOUND|EAI_[A-Z]+|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|ERR_(SSL|TLS)_\w+)$/;

function nobodyAnswers(error: unknown): boolean {
  const { code, syscall, cause } = (error ?? {}) as { code?: unknown; syscall?: unknown; cause?: unknown };
  return typeof code === 'string'
    ? syscall === 'connect' || ON_THE_WAY.test(code)
    : cause !== undefined && nobodyAnswers(cause);
}

/** A certificate or a key that an address names. */
function isOfFile(error: unknown): error is Error {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  return error instanceof Error && (syscall === 'open' || code === 'EISDIR');
}
