/**
 * Whose address a document has, so that each owner has one share of a round. For a name that is the registered domain:
 * an attacker gets subdomains for free, and each would be another host. Neighbouring addresses are one owner, too: a
 * client of IPv6 has a whole /64 of them.
 */
export function siteOf(uri: string): string {
  if (!URL.canParse(uri)) return '';
  const { protocol, hostname } = new URL(uri);
  if (usesGateway(uri)) return protocol;
  if (hostname.startsWith('[')) return groupsOf(hostname.slice(1, -1)).slice(0, 4).join(':');
  if (/^[\d.]+$/.test(hostname)) return hostname.split('.').slice(0, 3).join('.');
  return hostname.replace(/\.$/, '').split('.').slice(-2).join('.');
}

/**
 * Whether a document is fetched from a gateway. All documents of a scheme are fetched from the same one, and strangers
 * choose what is asked for there.
 */
export function usesGateway(uri: string): boolean {
  return URL.canParse(uri) && !['http:', 'https:'].includes(new URL(uri).protocol);
}

/** The eight groups of an address as a URL writes it. */
function groupsOf(address: string): string[] {
  const [before = [], after = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after];
}
