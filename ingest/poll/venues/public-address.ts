import { BlockList, isIP, isIPv6 } from 'node:net';

const PRIVATE = new BlockList();
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // A cloud's own services, at an address that looks public.
  ['168.63.129.16', 32],
  ['224.0.0.0', 3],
] as const) {
  PRIVATE.addSubnet(address, prefix, 'ipv4');
}
for (const [address, prefix] of [
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  PRIVATE.addSubnet(address, prefix, 'ipv6');
}

/** Whether an address belongs to the public internet; IPv4 inside IPv6 counts as what it is. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  return !PRIVATE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Names that lead to the machine itself or to a cloud's metadata service, whatever they resolve to. */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|home\.arpa|onion)\.?$|^(metadata|instance-data)\.?$/i;

export function isPublicName(host: string): boolean {
  return !PRIVATE_NAME.test(host);
}

/** Whether a host, as a URL writes it, is private by itself, whatever its name may resolve to. */
export function isPrivateHost(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  return isIP(address) === 0 ? !isPublicName(host) : !isPublicAddress(address);
}
