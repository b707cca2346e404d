import { isIP } from 'node:net';

/**
 * The address that limits count a client by: `trustProxy` entries from the right of X-Forwarded-For, else the peer
 * of the connection. IPv6 counts per /64, IPv4 inside IPv6 as IPv4.
 */
export function clientAddress(peer: string | undefined, forwardedFor: string, trustProxy: number): string {
  const entries = forwardedFor === '' || trustProxy === 0 ? [] : forwardedFor.split(',');
  if (entries.length === 0) return counted(peer ?? '');
  // Fewer entries than proxies: the request did not pass all of them.
  const forwarded = bare((entries.at(-Math.min(trustProxy, entries.length)) ?? '').trim());
  return counted(isIP(forwarded) === 0 ? (peer ?? '') : forwarded);
}

const counted = (address: string): string =>
  address.includes(':') && isIP(address) === 6 ? subnet(address) : address;

function bare(entry: string): string {
  if (isIP(entry) !== 0) return entry;
  return /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
}

/** IPv4 inside IPv6, in decimals or in hexadecimals, with zeros written or not. */
function mappedIPv4(address: string): string | null {
  const bare = address.split('%')[0] as string;
  // A URL writes every address in one form.
  const [, high, low] =
    /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(new URL(`http://[${bare}]`).hostname) ?? [];
  if (high === undefined || low === undefined) return null;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

function subnet(address: string): string {
  const mapped = mappedIPv4(address);
  if (mapped !== null) return mapped;
  const [head = '', tail] = (address.split('%')[0] as string).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const embedded = right.at(-1)?.includes('.') ? 1 : 0;
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length - embedded;
  const groups = [...left, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...right].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
