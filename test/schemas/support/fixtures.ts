import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const FOLDER = path.resolve(import.meta.dirname, '../../../../shared/fixtures');

/** Why tests of recorded data do not run here, or null. CI never skips: there they fail instead. */
export const noFixtures: string | null =
  existsSync(FOLDER) || process.env.CI !== undefined ? null : `skipped: no recorded data at ${FOLDER}`;

/** A recorded JSON document, by its path in the folder. */
export function fixture(name: string): unknown {
  return JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8'));
}
