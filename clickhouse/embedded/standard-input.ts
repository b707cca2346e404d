import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

const STANDARD_INPUT = 0;

let isEmpty = false;

/**
 * Gives the process an empty standard input, once. With every insert the engine asks there for more rows: what somebody
 * piped in would fail each insert, and of two sessions that ask at a time, one may set the other's read to wait for a
 * pipe that stays open, for ever.
 * @throws Error where a file that was opened at the same moment has taken its place
 */
export function emptyStandardInput(): void {
  if (isEmpty) return;
  closeSync(STANDARD_INPUT);
  // The lowest number that is free is the next file's.
  const opened = openSync(devNull, 'r');
  if (opened !== STANDARD_INPUT) throw new Error('standard input could not be replaced: start again');
  isEmpty = true;
}
