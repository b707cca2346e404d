import { ConfigError } from '../runtime/errors.ts';
import { upstreamWords } from '../runtime/outside/upstream.ts';

/**
 * For a server that is opened at start.
 * @throws ConfigError that names its variable where nobody answers, and anything else as it is.
 */
export function notReached(variable: string, instead = ''): (error: unknown) => never {
  return (error) => {
    if (!nobodyAnswers(error)) throw error;
    const words = upstreamWords(error);
    throw new ConfigError(`the server of ${variable} cannot be reached (${words}): start it${instead}`, {
      cause: error,
    });
  };
}

function nobodyAnswers(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return typeof code === 'string' ? /^E[A-Z]/.test(code) : cause !== undefined && nobodyAnswers(cause);
}
