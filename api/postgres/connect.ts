import { fork } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../../runtime/process/directory.ts';
import { openEmbedded } from './embedded.ts';
import { openPool } from './pool.ts';
import type { Db } from './port.ts';

const MAKE = path.join(import.meta.dirname, 'make-embedded.ts');

/**
 * The server of POSTGRES_URL, else the engine in DATA_DIR.
 * @throws ConfigError where the embedded engine is needed and not installed.
 */
export async function openDb(config: { postgresUrl: string | null; dataDir: string }): Promise<Db> {
  if (config.postgresUrl !== null) return openPool(config.postgresUrl);
  const directory = path.resolve(config.dataDir, 'postgres');
  makeDirectory(path.dirname(directory));
  if (!existsSync(directory)) await makeBeside(directory);
  return openEmbedded(directory);
}

/**
 * Has a new database made by a process of its own, so that this one answers meanwhile. It gets its name once it is whole:
 * a maker that outlives this process works on nobody's directory. Where that fails, opening it tells why.
 */
async function makeBeside(directory: string): Promise<void> {
  const making = `${directory}.making-`;
  for (const left of readdirSync(path.dirname(directory)))
    if (left.startsWith(path.basename(making)))
      rmSync(path.join(path.dirname(directory), left), { recursive: true, force: true, maxRetries: 3 });
  const mine = making + process.pid;
  const made = await new Promise<boolean>((resolve) => {
    // It ends before machine code that took longer to make would have paid.
    const maker = fork(MAKE, [mine], { stdio: 'ignore', execArgv: ['--liftoff-only'] });
    maker.once('error', () => resolve(false));
    maker.once('exit', (code) => resolve(code === 0));
  });
  if (made) renameSync(mine, directory);
}
