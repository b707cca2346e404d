import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/** One at a time: in /proc and its like Node's recursive way never ends. */
export function makeDirectory(directory: string): void {
  const above = path.dirname(path.resolve(directory));
  if (!existsSync(above)) makeDirectory(above);
  if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
}
