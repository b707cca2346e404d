import { readFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.resolve(import.meta.dirname, '../../fixtures');

/** A recorded answer of the outside world, trimmed to what tests assert, by its path in the folder. */
export function fixture(name: string): unknown {
  return JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8'));
}
