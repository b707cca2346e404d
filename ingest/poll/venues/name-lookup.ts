import { Resolver } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress, isPublicName } from './public-address.ts';

export interface NameLookupOptions {
  /** Public addresses alone, so that what was checked is what is connected to. */
  publicOnly: boolean;
  signal: AbortSignal;
  /** Default: those of the machine. */
  nameServers?: readonly string[];
}

const TIMEOUT_MS = 2_000;

/**
 * A lookup that asks the name servers itself, once, and ends with the signal. The system's own lookup runs on the few
 * threads of the process and is not to be ended: names that never answer would stop every other.
 */
export function nameLookup({ publicOnly, signal, nameServers }: NameLookupOptions): LookupFunction {
  return (hostname, options, callback) => {
    const found: { address: string; family: 4 | 6 }[] = [];
    const answer = () => {
      const [first] = found;
      if (first === undefined) callback(lookupError(hostname, publicOnly), '', 0);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    };
    if (/^localhost\.?$/i.test(hostname) && !publicOnly) {
      found.push({ address: '127.0.0.1', family: 4 });
      return answer();
    }
    if (signal.aborted || (publicOnly && !isPublicName(hostname))) return answer();
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
    if (nameServers !== undefined) resolver.setServers(nameServers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    let open = 2;
    const keep = (family: 4 | 6) => (error: Error | null, addresses: string[]) => {
      const sound = error === null ? addresses : [];
      for (const address of sound)
        if (!publicOnly || isPublicAddress(address)) found.push({ address, family });
      open -= 1;
      if (open > 0) return;
      signal.removeEventListener('abort', cancel);
      found.sort((one, other) => one.family - other.family);
      answer();
    };
    resolver.resolve4(hostname, keep(4));
    resolver.resolve6(hostname, keep(6));
  };
}

function lookupError(hostname: string, publicOnly: boolean): NodeJS.ErrnoException {
  const what = publicOnly ? 'no public address' : 'no address';
  return Object.assign(new Error(`${hostname} has ${what}`), { code: 'ENOTFOUND' });
}
