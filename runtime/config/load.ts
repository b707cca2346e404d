import { type Config, readConfig } from './config.ts';
import { keepSecrets } from './secrets.ts';

/**
 * Loads `.env` where it is present, then reads the environment; what is set already wins. From then on the process keeps
 * the secrets in it to itself.
 */
export function loadConfig(): Config {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const config = readConfig(process.env);
  keepSecrets(config);
  return config;
}
