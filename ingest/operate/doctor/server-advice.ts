import { messageOf } from '../../../runtime/errors.ts';
import { CERTIFICATE_EXPIRED, CERTIFICATE_OF_ANOTHER, UNTRUSTED } from '../../../runtime/outside/upstream.ts';

/** What to do by the words of a server; the first that match count. */
type Advice = readonly (readonly [words: RegExp, todo: string])[];

const AWAY =
  /refused|no such host|not reachable|timed out|timeout|in time|no answer|terminated|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/i;
const CERTIFICATE = new RegExp(
  [CERTIFICATE_EXPIRED, CERTIFICATE_OF_ANOTHER, UNTRUSTED, 'CERT', 'SELF_SIGNED', 'UNABLE_TO'].join('|'),
);
const CERTIFICATE_ADVICE =
  'have it renewed, name the host that it is for, or have NODE_EXTRA_CA_CERTS name who signed it';

export const KAFKA_ADVICE: Advice = [
  [/not authorized/i, 'give the login the rights that docs/operations.md names'],
  [/mechanism/i, 'set KAFKA_SASL_MECHANISM to one that the brokers take'],
  [/authentication/i, 'set KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD to a login of the brokers'],
  [/SASL state/i, 'its port takes no login: leave KAFKA_SASL_MECHANISM unset, or name the port that does'],
  [CERTIFICATE, CERTIFICATE_ADVICE],
  [
    /closed|ECONNRESET|no Kafka broker/i,
    'is its port right, KAFKA_TLS set where it wants TLS alone, and KAFKA_SASL_MECHANISM where it wants a login?',
  ],
  [AWAY, 'does the broker run, and is host:port right?'],
];

export const CLICKHOUSE_ADVICE: Advice = [
  [
    /HTTP 40[13]|authentication|password/i,
    'put a login of the server into it: https://user:password@host:port/database',
  ],
  [CERTIFICATE, CERTIFICATE_ADVICE],
  [AWAY, 'does the server run, and are host and port right?'],
  [/./, 'is its port the one of HTTP (8123, or 8443 with https://)?'],
];

export const POSTGRES_ADVICE: Advice = [
  [
    /authentication|password|role .* does not exist/i,
    'put a login of the server into it: postgres://user:password@host:port/database',
  ],
  [/database .* does not exist/i, 'make the database, or name one that is there'],
  [CERTIFICATE, CERTIFICATE_ADVICE],
  [AWAY, 'does the server run, and are host and port right?'],
];

const MOST_WORDS = 150;

/** The answer of a server. @throws Error with the server's words and what to do behind them */
export async function withAdvice<T>(advice: Advice, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    const words = messageOf(cause) || 'no answer';
    const todo = advice.find(([known]) => known.test(words))?.[1];
    throw new Error(todo === undefined ? words : `${words.slice(0, MOST_WORDS)}: ${todo}`, { cause });
  }
}
