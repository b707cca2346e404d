import { isLoopback } from '../outside/loopback.ts';
import type { Config } from './config.ts';

/** What is wrong with TRUST_PROXY as far as the configuration shows it; null where nothing is. */
export function proxyAdvice({ publicUrl, trustProxy, host }: Config): string | null {
  if (publicUrl === null || trustProxy > 0) return null;
  const { protocol, hostname } = new URL(publicUrl);
  const one =
    'TRUST_PROXY is 0: all clients count as one address, and thirty challenges a minute lock all agents out';
  if (protocol === 'https:')
    return `PUBLIC_URL is https, which this service does not speak: a proxy stands before it, but ${one}`;
  if (isLoopback(host) && !isLoopback(hostname))
    return `PUBLIC_URL names ${hostname}, but HOST is this machine alone: a proxy stands before it, but ${one}`;
  return null;
}
