import { lstatSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { ConfigError, messageOf } from '../errors.ts';
import { type Config, readConfig } from './config.ts';
import type { Environment } from './reader.ts';
import { redactSecretsOf } from './secrets.ts';

const FILE = '.env';

/**
 * Loads `.env` where it is present, then reads the environment; what is set already wins. From then on nothing that the
 * process prints or logs holds a secret of it.
 * @throws ConfigError where `.env` exists and cannot be read: without it the process would run with other settings.
 */
export function loadConfig(): Config {
  Object.assign(process.env, unset(parseEnv(textOfFile())));
  const config = readConfig(process.env);
  redactSecretsOf(config);
  return config;
}

/** The settings that the environment sets neither directly nor through their `_FILE` variables. */
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

/** The text without the byte-order mark that some editors put in front: it would become part of the first name. */
function textOf(bytes: Uint8Array): string {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  try {
    const text = utf8.decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Thrown below.
  }
  throw new Error('it is no text in UTF-8');
}
