import { isIP } from 'node:net';

/** Whether a host, as a URL or HOST names it, is this machine itself. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || /^\[?::1\]?$/.test(host) || (isIP(host) === 4 && host.startsWith('127.'));
