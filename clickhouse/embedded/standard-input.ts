import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

const STANDARD_INPUT = 0;
/** Another thread that reads a file keeps its descriptor for less than so many tries. */
const TRIES = 200;
const BETWEEN_MS = 5;

let isEmpty = false;

/**
 * Gives the process an empty standard input, once. With every insert the engine reads it for more rows: input from a
 * pipe would fail each insert, and of two sessions that read at a time, one may have the other wait for ever for a pipe
 * that stays open.
 * @throws Error where a file that was opened at the same moment has taken its descriptor, and keeps it
 */
export function emptyStandardInput(): void {
  if (isEmpty) return;
  closeSync(STANDARD_INPUT);
  openAs(STANDARD_INPUT, { open: () => openSync(devNull, 'r'), close: closeSync, rest });
  isEmpty = true;
}

export interface Opening {
  /** @returns the file's descriptor, which is the lowest that is free */
  open(): number;
  close(number: number): void;
  rest(): void;
}

/** Opens a file until it gets the descriptor `wanted`. @throws Error where another file keeps that */
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
