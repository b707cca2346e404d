import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { openEmbedded } from './embedded.ts';
import { openPool } from './pool.ts';
import type { Db } from './port.ts';

/**
 * The server of POSTGRES_URL, else the engine in DATA_DIR.
 * @throws ConfigError where the embedded engine is needed and not installed.
 */
export async function openDb(config: { postgresUrl: string | null; dataDir: string }): Promise<Db> {
  if (config.postgresUrl !== null) return openPool(config.postgresUrl);
  const directory = path.resolve(config.dataDir, 'postgres');
  mkdirSync(path.dirname(directory), { recursive: true, mode: 0o700 });
  return openEmbedded(directory);
}
