import type { Cell } from './cells.ts';

const texts = new WeakMap<Cell, string>();

/** Puts a value in its cell, which is another where what the value is made of is. */
export function replace(cell: Cell, value: unknown, of: unknown): void {
  const text = JSON.stringify(of);
  cell.value = value;
  if (texts.get(cell) === text) return;
  texts.set(cell, text);
  cell.stamp += 1;
}
