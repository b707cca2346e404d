/** Addresses that mean every interface of the machine, and for each the loopback address to connect to. */
const ANY: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The URL under which this machine reaches a server that listens on `host` and `port`. */
export function localUrl(host: string, port: number): string {
  const reached = ANY[host] ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
