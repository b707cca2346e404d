import { ConfigError } from '../errors.ts';

/** An error that says why the address cannot be listened on, and what to do; an error of another kind as it is. */
export function whyNotListening(
  variable: 'PORT' | 'METRICS_PORT',
  { host, port }: { host: string; port: number },
  error: NodeJS.ErrnoException,
): Error {
  const said: Record<string, string> = {
    EADDRINUSE: `something else listens on ${host} port ${port} already: stop it, or set ${variable} to another`,
    EACCES: `this user may not listen on port ${port}: set ${variable} to one from 1024 up`,
    EADDRNOTAVAIL: `HOST ${host} is no address of this machine: set HOST to one, or to 0.0.0.0 for all of them`,
    ENOTFOUND: `HOST ${host} is no name of this machine: set HOST to an address of it, or to 0.0.0.0 for all of them`,
  };
  const sentence = said[error.code ?? ''];
  return sentence === undefined ? error : new ConfigError(sentence, { cause: error });
}
