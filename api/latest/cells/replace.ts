import type { Cell } from './cells.ts';

const texts = new WeakMap<Cell, string>();

/** Puts a value into its cell; the stamp moves where `inputs`, what the value is made of, differ from before. */
export function replace(cell: Cell, value: unknown, inputs: unknown): void {
  const text = JSON.stringify(inputs);
  cell.value = value;
  if (texts.get(cell) === text) return;
  texts.set(cell, text);
  cell.stamp += 1;
}
