import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { openEmbedded } from '../../api/postgres/embedded.ts';

const MODULES = path.resolve('node_modules');

/**
 * Has a directory of the embedded Postgres stand there as its first start leaves it: to open a copy takes a sixth of what
 * making one does.
 */
export async function placeEmbedded(directory: string): Promise<void> {
  const { version } = JSON.parse(
    readFileSync(path.join(MODULES, '@electric-sql/pglite/package.json'), 'utf8'),
  ) as { version: string };
  const made = path.join(MODULES, '.cache', `pglite-${version}`);
  if (!existsSync(made)) {
    const making = `${made}.${process.pid}`;
    await (await openEmbedded(making)).close();
    try {
      renameSync(making, made);
    } catch {
      // Another was faster.
      rmSync(making, { recursive: true, force: true });
    }
  }
  cpSync(made, directory, { recursive: true });
}
