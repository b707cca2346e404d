import type { Source } from '../cells/cells.ts';
import type { Memo } from './memo.ts';

/** A part made of one row and of what all such parts have in common. */
export interface RowPart {
  value: SizedText;
  /** What they have in common: another object where its content differs. */
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
  /** Whether it was used since `makeRoom` last passed it. */
  isUsed: boolean;
}

/** A row that carries its part: whoever has the row has the part, without a lookup in a table of 100,000. */
export interface RowWithPart extends Source {
  part: Kept | null;
}

/** Parts of answers, each kept with the row that it is made of. */
export interface RowParts {
  get(row: RowWithPart): RowPart | null;
  set(row: RowWithPart, part: RowPart): void;
}

/** Bytes of a part beside its text, its place in `rows` included. */
const OVERHEAD = 220;

/** @param maxBytes beyond them parts are dropped in turn, except those used since their last turn */
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
