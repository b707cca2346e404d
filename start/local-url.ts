/** Addresses that mean all of a machine's own, and one of them that can be asked. */
const ANY: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The address under which this machine reaches what listens there. */
export function localUrl(host: string, port: number): string {
  const reached = ANY[host] ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
