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
 * Makes a new database in a child process, so that this one answers meanwhile. The directory gets its final name once
 * it is whole: a child that outlives this process works on no directory in use. Where it fails, opening reports why.
 */
async function makeBeside(directory: string): Promise<void> {
  const making = `${directory}.making-`;
  for (const left of readdirSync(path.dirname(directory)))
    if (left.startsWith(path.basename(making)))
      rmSync(path.join(path.dirname(directory), left), { recursive: true, force: true, maxRetries: 3 });
  const mine = making + process.pid;
  const made = await new Promise<boolean>((resolve) => {
    // --liftoff-only: the child ends before optimised machine code would have paid for the time it takes to make.
    const maker = fork(MAKE, [mine], { stdio: 'ignore', execArgv: ['--liftoff-only'] });
    maker.once('error', () => resolve(false));
    maker.once('exit', (code) => resolve(code === 0));
  });
  if (made) renameSync(mine, directory);
}
