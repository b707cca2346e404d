import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

const STANDARD_INPUT = 0;
/** Another thread that reads a file has its number for less than that. */
const TRIES = 200;
const BETWEEN_MS = 5;

let isEmpty = false;

/**
 * Gives the process an empty standard input, once. With every insert the engine asks there for more rows: what somebody
 * piped in would fail each insert, and of two sessions that ask at a time, one may set the other's read to wait for a
 * pipe that stays open, for ever.
 * @throws Error where a file that was opened at the same moment has taken its place, and keeps it
 */
export function emptyStandardInput(): void {
  if (isEmpty) return;
  closeSync(STANDARD_INPUT);
  openAs(STANDARD_INPUT, { open: () => openSync(devNull, 'r'), close: closeSync, rest });
  isEmpty = true;
}

export interface Opening {
  /** The lowest number that is free is the next file's. */
  open(): number;
  close(number: number): void;
  rest(): void;
}

/** Opens until that is the number of the file. @throws Error where it stays another's */
export function openAs(wanted: number, { open, close, rest }: Opening): void {
  const others: number[] = [];
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const opened = open();
      if (opened === wanted) return;
      others.push(opened);
      rest();
    }
    throw new Error('standard input could not be replaced: start again');
  } finally {
    for (const number of others) close(number);
  }
}

function rest(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_MS);
}
