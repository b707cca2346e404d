import type { Config } from '../runtime/config/config.ts';
import type { Environment } from '../runtime/config/reader.ts';
import { isSet } from '../runtime/config/variables.ts';

/**
 * What LOG_LEVEL says. Where it is not set and a terminal shows standard error, warnings and errors alone: lines would
 * run into the progress on that screen.
 */
export function logLevelOf(
  { logLevel }: Config,
  env: Environment = process.env,
  isTerminal = process.stderr.isTTY === true,
): string {
  return isTerminal && !isSet('LOG_LEVEL', env) ? 'warn' : logLevel;
}
