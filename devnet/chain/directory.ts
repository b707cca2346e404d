import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/** Makes parents one at a time: in /proc and the like Node's recursive mkdir never returns. */
export function makeDirectory(directory: string): void {
  const above = path.dirname(path.resolve(directory));
  if (!existsSync(above)) makeDirectory(above);
  if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
}
