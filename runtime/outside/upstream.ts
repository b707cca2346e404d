import { MalformedError } from '../../schemas/malformed.ts';
import { VenueRefusal } from '../../schemas/venues/options.ts';
import { RetryableError } from '../errors.ts';
import { RpcError } from '../rpc/error.ts';

export const CONNECTION_LOST = 'connection lost';

/** What went wrong on the way, by the code that the system has for it. */
const CODES: Record<string, string> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: CONNECTION_LOST,
  EPIPE: CONNECTION_LOST,
  UND_ERR_SOCKET: CONNECTION_LOST,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: CONNECTION_LOST,
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'no such host',
  EHOSTUNREACH: 'not reachable',
  ENETUNREACH: 'not reachable',
  ETIMEDOUT: 'timed out',
  UND_ERR_CONNECT_TIMEOUT: 'timed out',
  UND_ERR_HEADERS_TIMEOUT: 'timed out',
  UND_ERR_BODY_TIMEOUT: 'timed out',
};

const RPC_WORDS = { unreachable: 'no answer', behind: 'behind', refused: 'refused' } as const;

/**
 * What is told of a failure outside, in words of our own: an upstream's text or address may hold what is nobody's to
 * know. The details are for the log.
 */
export function upstreamWords(error: unknown): string {
  // These carry nothing but words of ours.
  if (error instanceof RetryableError || error instanceof MalformedError) return error.message;
  if (error instanceof VenueRefusal) return `answered error ${error.code}`;
  if (error instanceof RpcError)
    return error.cause === undefined ? RPC_WORDS[error.kind] : causeWords(error.cause);
  return causeWords(error);
}

function causeWords(error: unknown): string {
  if (error instanceof RetryableError) return error.message;
  const { name, code, cause } = (error ?? {}) as { name?: unknown; code?: unknown; cause?: unknown };
  if (name === 'TimeoutError' || name === 'AbortError') return 'timed out';
  if (name === 'HTTPParserError') return 'no HTTP answers';
  if (typeof code === 'string') {
    if (/^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) return 'its certificate is not valid';
    if (code.startsWith('ERR_SSL_')) return 'no TLS answers';
    if (Object.hasOwn(CODES, code)) return CODES[code] as string;
  }
  return cause === undefined ? 'no answer' : causeWords(cause);
}
