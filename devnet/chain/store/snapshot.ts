import { applyChanges, type Changes } from '../../program/state/draft.ts';
import { type ProgramState, TABLE_NAMES } from '../../program/state/state.ts';
import type { AccountBook, WrittenAccount } from '../account-book.ts';

/** A part of the state at a moment; one after the other they are all of it, each table in its order. */
export interface SnapshotPiece {
  rows: Changes;
  written: WrittenAccount[];
}

/** Everything on the chain at a moment. */
export interface Snapshot {
  slot: bigint;
  version: bigint;
  pieces: Iterable<SnapshotPiece>;
}

/** Of a piece: a record has a largest size, and a chain of many policies is larger. */
const MOST_ACCOUNTS = 5_000;

function* inParts<T>(all: Iterable<T>): Generator<T[]> {
  let part: T[] = [];
  for (const one of all) {
    part.push(one);
    if (part.length < MOST_ACCOUNTS) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

export function* piecesOf(state: ProgramState, book: AccountBook): Generator<SnapshotPiece> {
  for (const table of TABLE_NAMES)
    for (const part of inParts<[string, unknown]>(state[table]))
      yield { rows: { [table]: new Map(part) }, written: [] };
  for (const written of inParts(book.written())) yield { rows: {}, written };
}

export function restore(state: ProgramState, book: AccountBook, { rows, written }: SnapshotPiece): void {
  applyChanges(state, rows);
  book.restore(written);
}
