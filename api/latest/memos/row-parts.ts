import type { Source } from '../cells/cells.ts';
import type { Memo } from './memo.ts';

/** What was made of one row, and of what all such have in common. */
export interface RowPart {
  value: SizedText;
  /** Another object where it says something else. */
  around: object;
  stamp: number;
  /** What else it was made of; null: nothing. */
  more: Memo<null> | null;
}

/** Something that is mostly text. */
export interface SizedText {
  /** Characters. */
  readonly length: number;
}

interface Kept extends RowPart {
  bytes: number;
  /** Since it was last looked at whether it may go. */
  isUsed: boolean;
}

/** A row on which its part is kept: who has the one has the other, without a look into a table of 100,000. */
export interface RowWithPart extends Source {
  part: Kept | null;
}

/** Parts of answers, each kept with the row that it is made of. */
export interface RowParts {
  get(row: RowWithPart): RowPart | null;
  set(row: RowWithPart, part: RowPart): void;
}

/** Of one beside its text, and its place here. */
const OVERHEAD = 220;

/** @param maxBytes in their turn those go that nobody has asked for since their last */
export function createRowParts(maxBytes: number): RowParts {
  const rows: RowWithPart[] = [];
  let all = 0;
  let turn = 0;

  const makeRoom = (): void => {
    while (all > maxBytes) {
      turn %= rows.length;
      const row = rows[turn] as RowWithPart;
      const part = row.part as Kept;
      if (part.isUsed) {
        part.isUsed = false;
        turn += 1;
        continue;
      }
      all -= part.bytes;
      row.part = null;
      const last = rows.pop() as RowWithPart;
      if (last !== row) rows[turn] = last;
    }
  };

  return {
    get: ({ part }) => {
      if (part !== null && !part.isUsed) part.isUsed = true;
      return part;
    },
    set: (row, part) => {
      const bytes = part.value.length + OVERHEAD + (part.more?.cells.length ?? 0) * 16;
      if (row.part === null) rows.push(row);
      else all -= row.part.bytes;
      row.part = { ...part, bytes, isUsed: true };
      all += bytes;
      makeRoom();
    },
  };
}
