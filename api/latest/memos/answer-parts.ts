import { LRUCache } from 'lru-cache';
import type { Memo } from './memo.ts';

/** Parts of answers that others may share, each with what it was made of. */
export interface AnswerParts {
  get(name: string): Memo<unknown> | undefined;
  set(name: string, made: Memo<unknown>): void;
}

/** A part that says how much memory it takes. */
export interface SizedPart {
  memoryBytes: number;
}

/** Assumed of a part that is neither text nor bytes and does not say. */
const OBJECT_BYTES = 2_000;

/** @param maxBytes the least recently used go */
export function createAnswerParts(maxBytes: number): AnswerParts {
  const parts = new LRUCache<string, Memo<unknown>>({
    maxSize: maxBytes,
    sizeCalculation: ({ value, cells }, name) => sizeOf(value) + name.length + cells.length * 16 + 200,
  });
  return {
    get: (name) => parts.get(name),
    set: (name, made) => void parts.set(name, made),
  };
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  const { bytes, memoryBytes = OBJECT_BYTES } = (value ?? {}) as { bytes?: unknown } & Partial<SizedPart>;
  return Buffer.isBuffer(bytes) ? bytes.length : memoryBytes;
}
