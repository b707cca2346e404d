import type { Cell } from './cells.ts';

const texts = new WeakMap<Cell, string>();

/** Puts a value into its cell; the stamp moves where `of`, what the value is made of, differs from before. */
export function replace(cell: Cell, value: unknown, of: unknown): void {
  const text = JSON.stringify(of);
  cell.value = value;
  if (texts.get(cell) === text) return;
  texts.set(cell, text);
  cell.stamp += 1;
}
