import { BrokenAnswerError, ConfigError, messageOf } from '../errors.ts';
import { upstreamWords } from '../outside/upstream.ts';

/** Error codes of Postgres and ClickHouse for a wrong user, password or database. */
const LOGIN_CODES = new Set(['28P01', '28000', '3D000', '516', '81']);

/**
 * An error handler for the first request to a server.
 * @throws ConfigError that names its variable where nothing answers, something else answers or the login is refused;
 * any other error as it is.
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
    // Its message quotes the answer, which may be anything.
    if (error instanceof BrokenAnswerError)
      throw new ConfigError(
        `the server of ${variable} gives no whole answer of its kind: check its host and port, and a proxy in between`,
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

/**
 * Failed logins, and connections that end before one: the Kafka client's errors of these have no code. It wraps them in
 * one that says that it has given up.
 */
const OF_BROKER = /SASLAuthentication|ConnectionClosed|SASL mechanism|SASL state/;

const isOfBroker = (error: unknown): boolean =>
  error instanceof Error &&
  error.name.startsWith('KafkaJS') &&
  (OF_BROKER.test(`${error.name} ${error.message}`) || isOfBroker(error.cause));

/** Codes of errors about a connection, a host name or TLS. Listed, for those about files have the same form. */
const ON_THE_WAY =
  /^(ECONN[A-Z]+|EPIPE|EPROTO|ETIMEDOUT|ENOTFOUND|EAI_[A-Z]+|E(HOST|NET)(UNREACH|DOWN)|EADDRNOTAVAIL|ERR_(SSL|TLS)_\w+)$/;

function nobodyAnswers(error: unknown): boolean {
  const { code, syscall, cause } = (error ?? {}) as { code?: unknown; syscall?: unknown; cause?: unknown };
  return typeof code === 'string'
    ? syscall === 'connect' || ON_THE_WAY.test(code)
    : cause !== undefined && nobodyAnswers(cause);
}

/** Whether the error is about a file that an address names: a certificate or a key. */
function isOfFile(error: unknown): error is Error {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  return error instanceof Error && (syscall === 'open' || code === 'EISDIR');
}
