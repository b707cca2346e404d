import { holdsNoSecret } from '../../../runtime/config/secrets.ts';
import { documentUrl } from '../../../schemas/venues/metadata.ts';
import { isPrivateHost } from './public-address.ts';

/** The URL at which anybody finds the image that a document names, or why readers must not be sent there. */
export function shownImage(
  image: string,
  { ipfsGateway, allowPrivate }: { ipfsGateway: string | null; allowPrivate: boolean },
): { url: string } | { reason: string } {
  const shown = documentUrl(image, ipfsGateway, true);
  if ('reason' in shown) return { reason: shown.reason.replace('metadata', 'image') };
  const { href, hostname } = withoutLogin(new URL(shown.url));
  // A reader's browser would ask a host in the reader's own network for it.
  if (!allowPrivate && isPrivateHost(hostname)) return { reason: 'the image is at a private address' };
  if (!holdsNoSecret(href)) return { reason: 'the image stands behind a key of IPFS_GATEWAY' };
  return { url: href };
}

/** The URL without a gateway's login, which is nobody else's to know. */
export function withoutLogin(url: URL): URL {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return bare;
}
