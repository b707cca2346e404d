import { lstatSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError, messageOf } from '../errors.ts';
import { type Config, readConfig } from './config.ts';
import type { Environment } from './reader.ts';
import { keepSecrets } from './secrets.ts';

const FILE = '.env';

/**
 * Loads `.env` where it is present, then reads the environment; what is set already wins. From then on the process keeps
 * the secrets in it to itself.
 * @throws ConfigError where it is there and cannot be read: without it the process would be another.
 */
export function loadConfig(): Config {
  Object.assign(process.env, unset(parseEnv(textOfFile())));
  const config = readConfig(process.env);
  keepSecrets(config);
  return config;
}

/** Those that the environment says nothing of: neither themselves nor the file that holds them. */
function unset(settings: Environment): Environment {
  const isUnset = (name: string) =>
    process.env[name] === undefined && (process.env[`${name}_FILE`] ?? '') === '';
  return Object.fromEntries(Object.entries(settings).filter(([name]) => isUnset(name)));
}

function textOfFile(): string {
  try {
    return textOf(readFileSync(FILE));
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && lstatSync(FILE, { throwIfNoEntry: false }) === undefined) return '';
    throw new ConfigError(
      `${FILE} cannot be read: ${isMissing ? 'it is a link that leads nowhere' : messageOf(error)}`,
    );
  }
}

/** Without the byte-order mark that some editors put in front: it would be of the first name. */
function textOf(bytes: Uint8Array): string {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  try {
    const text = utf8.decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Said below.
  }
  throw new Error('it is no text in UTF-8');
}
