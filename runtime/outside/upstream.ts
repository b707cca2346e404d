import { MalformedError } from '../../schemas/malformed.ts';
import { NOT_JSON } from '../../schemas/venues/decimal.ts';
import { VenueRefusal } from '../../schemas/venues/options.ts';
import { RetryableError } from '../errors.ts';
import { RpcError } from '../rpc/error.ts';

export const CONNECTION_LOST = 'connection lost';
export const CERTIFICATE_EXPIRED = 'its certificate has expired';
export const CERTIFICATE_OF_ANOTHER = 'its certificate is of another host';
export const UNTRUSTED = 'its certificate is not valid';
export const NO_TLS = 'no TLS answers';

/** What went wrong on the way, by the error code of the system, undici or OpenSSL. */
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
  CERT_HAS_EXPIRED: CERTIFICATE_EXPIRED,
  ERR_TLS_CERT_ALTNAME_INVALID: CERTIFICATE_OF_ANOTHER,
};

const RPC_WORDS = { unreachable: 'no answer', behind: 'behind', refused: 'refused' } as const;

/**
 * What readers are told of a failure outside, in words of our own: an upstream's text or address may hold secrets. The
 * details are for the log.
 */
export function upstreamWords(error: unknown): string {
  // Where a reply is not even JSON, naming what it was meant to be adds nothing.
  if (error instanceof MalformedError && error.reason === NOT_JSON) return NOT_JSON;
  // The messages of these are our own words.
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
    if (Object.hasOwn(CODES, code)) return CODES[code] as string;
    if (/^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) return UNTRUSTED;
    if (code.startsWith('ERR_SSL_')) return NO_TLS;
  }
  return cause === undefined ? 'no answer' : causeWords(cause);
}
