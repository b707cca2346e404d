import { MalformedError } from '../malformed.ts';
import { objectOf } from './decimal.ts';

const MOST_URL = 2_000;

/** The image that a token's document names. @throws MalformedError where it names none. */
export function readImage(document: unknown): string {
  const { image } = objectOf(document, 'metadata document');
  if (typeof image !== 'string' || image === '') throw new MalformedError('metadata document', 'no image');
  if (image.length > MOST_URL || !URL.canParse(image))
    throw new MalformedError('metadata document', 'image is no URL');
  const url = new URL(image);
  if (!['https:', 'http:', 'ipfs:', 'ar:'].includes(url.protocol)) {
    throw new MalformedError('metadata document', `image of the scheme ${url.protocol.slice(0, 20)}`);
  }
  return url.href;
}

/** Where a document is fetched: https as it is, ipfs through the gateway, arweave. Null with the reason otherwise. */
export function documentUrl(
  uri: string,
  gateway: string | null,
  allowHttp: boolean,
): { url: string } | { reason: string } {
  if (uri.length > MOST_URL || !URL.canParse(uri)) return { reason: 'the metadata uri is no URL' };
  const { protocol, href } = new URL(uri);
  if (protocol === 'https:' || (protocol === 'http:' && allowHttp)) return { url: href };
  if (protocol === 'ar:') return below('https://arweave.net/', uri.slice('ar://'.length));
  if (protocol !== 'ipfs:') return { reason: `the metadata uri has the scheme ${protocol.slice(0, 20)}` };
  if (gateway === null) return { reason: 'the metadata is on ipfs and IPFS_GATEWAY is not set' };
  return below(`${gateway}/ipfs/`, uri.slice('ipfs://'.length).replace(/^ipfs\//, ''));
}

const UP = /(^|[/\\])\.\.?([/\\?#]|$)/;

/** A path that stays below its prefix however often a server decodes it: what lies beside may be open to us alone. */
function below(prefix: string, path: string): { url: string } | { reason: string } {
  const outside = { reason: 'the metadata uri leaves the content it names' };
  let decoded = path;
  for (let times = 0; times < 4; times += 1) {
    if (UP.test(decoded)) return outside;
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      return outside;
    }
  }
  const { href } = new URL(prefix + path);
  return href.startsWith(new URL(prefix).href) ? { url: href } : outside;
}
