import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a directory that is its owner's alone, and those that it lies in. One at a time: where a file system says ENOENT
 * to whoever makes something in what is there, as /proc does, Node's recursive way tries for ever.
 */
export function makeDirectory(directory: string): void {
  try {
    makeOne(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeDirectory(path.dirname(path.resolve(directory)));
    makeOne(directory);
  }
}

function makeOne(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (!isDirectory(directory)) throw error;
  }
}

const isDirectory = (file: string): boolean =>
  statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
