import { applyChanges, type Changes } from '../../program/state/draft.ts';
import { type ProgramState, TABLE_NAMES } from '../../program/state/state.ts';
import type { AccountBook, WrittenAccount } from '../account-book.ts';

/** A part of the state at a moment. All pieces in turn make up the whole state, each table in its order. */
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

/** Most accounts in a piece: the size of a record is limited, and the state of many policies is larger. */
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
