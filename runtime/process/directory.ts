import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a directory that only its owner may use, and the missing ones above it. One at a time: on a file system that
 * answers ENOENT inside a directory that exists, as /proc does, Node's `recursive` tries for ever.
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
