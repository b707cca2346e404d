import { lstatSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError, messageOf } from '../errors.ts';
import { type Config, readConfig } from './config.ts';
import { keepSecrets } from './secrets.ts';

const FILE = '.env';

/**
 * Loads `.env` where it is present, then reads the environment; what is set already wins. From then on the process keeps
 * the secrets in it to itself.
 * @throws ConfigError where it is there and cannot be read: without it the process would be another.
 */
export function loadConfig(): Config {
  for (const [name, value] of Object.entries(parseEnv(textOfFile()))) process.env[name] ??= value;
  const config = readConfig(process.env);
  keepSecrets(config);
  return config;
}

function textOfFile(): string {
  try {
    return readFileSync(FILE, 'utf8');
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && lstatSync(FILE, { throwIfNoEntry: false }) === undefined) return '';
    throw new ConfigError(
      `${FILE} cannot be read: ${isMissing ? 'it is a link that leads nowhere' : messageOf(error)}`,
    );
  }
}
