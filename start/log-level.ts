import type { Config } from '../runtime/config/config.ts';
import type { Environment } from '../runtime/config/reader.ts';
import { isSet } from '../runtime/config/variables.ts';

/** What LOG_LEVEL says. Where it is not set, warnings and errors alone: the screen tells the rest. */
export function logLevelOf({ logLevel }: Config, env: Environment = process.env): string {
  return isSet('LOG_LEVEL', env) ? logLevel : 'warn';
}
