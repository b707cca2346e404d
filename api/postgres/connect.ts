import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
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
  if (!existsSync(directory)) await makeBeside(directory);
  return openEmbedded(directory);
}

/** Has the database made by a thread of its own, so that this one answers meanwhile. Where that fails, opening it tells why. */
function makeBeside(directory: string): Promise<void> {
  return new Promise((resolve) => {
    const maker = new Worker(new URL('./make-embedded.ts', import.meta.url), { workerData: directory });
    maker.once('error', () => resolve());
    maker.once('exit', () => resolve());
  });
}
