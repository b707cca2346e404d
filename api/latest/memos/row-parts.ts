import { LRUCache } from 'lru-cache';
import type { Source } from '../cells/cells.ts';
import type { Memo } from './memo.ts';

/** What was made of one source, and of what all such have in common. */
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

/** Parts of answers by the row that they are made of. */
export interface RowParts {
  get(source: Source): RowPart | undefined;
  set(source: Source, part: RowPart): void;
}

/** Of one beside its text, and its place here. */
const OVERHEAD = 220;

/** @param maxBytes the least recently used go */
export function createRowParts(maxBytes: number): RowParts {
  const parts = new LRUCache<Source, RowPart>({
    maxSize: maxBytes,
    sizeCalculation: ({ value, more }) => value.length + OVERHEAD + (more?.cells.length ?? 0) * 16,
  });
  return {
    get: (source) => parts.get(source),
    set: (source, part) => void parts.set(source, part),
  };
}
