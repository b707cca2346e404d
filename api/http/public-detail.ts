import { withoutSecrets } from '../../runtime/config/secrets.ts';

const DETAIL_MAX = 300;
/** Any URL: neither its password nor a key in its path or query may get out, nor where our servers are. */
const URLS = /\b([a-z][a-z0-9+.-]{0,30}):\/\/[^\s"'<>]+/gi;
/** System errors for an address that is not reached, each with the address behind it. */
const NOT_REACHED =
  /\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL) [^\s,;)]+/g;
const BEARER = /\bBearer\s+\S+/gi;

/**
 * The `detail` of a 500: what went wrong, without anything of the configuration that is secret.
 * @param secrets texts that must not appear, as configured.
 */
export function publicDetail(error: unknown, secrets: readonly string[]): string {
  let text = error instanceof Error ? `${error.name}: ${error.message}` : 'an unknown failure';
  text = withoutSecrets(text, secrets)
    .replace(URLS, '$1://…')
    .replace(NOT_REACHED, '$1')
    .replace(BEARER, 'Bearer ***')
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > DETAIL_MAX ? `${text.slice(0, DETAIL_MAX)}…` : text;
}
