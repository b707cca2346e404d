import { printedItem } from './printed.ts';
import { type TaggedBytes, tagOf } from './tagged-bytes.ts';

/** Items of a list one after the other, each with the comma and the newline that follow it. */
export interface PrintedSteps extends TaggedBytes {
  /** Where each item ends, in bytes. */
  ends: readonly number[];
}

const BETWEEN = ',\n';

export const NO_STEPS: PrintedSteps = { bytes: Buffer.alloc(0), tag: '', ends: [] };

export function printedSteps(items: readonly unknown[]): PrintedSteps {
  let length = 0;
  const texts = items.map((item) => `${printedItem(item)}${BETWEEN}`);
  const ends = texts.map((text) => {
    length += Buffer.byteLength(text);
    return length;
  });
  const bytes = Buffer.from(texts.join(''));
  return { bytes, tag: tagOf(bytes), ends };
}

/** The items `from` up to, but without, `to`. @param isLast whether nothing follows: then the last comma is left out */
export function stepsBetween(steps: PrintedSteps, from: number, to: number, isLast: boolean): TaggedBytes {
  const begin = steps.ends[from - 1] ?? 0;
  const end = (steps.ends[to - 1] ?? 0) - (isLast ? BETWEEN.length : 0);
  return { bytes: steps.bytes.subarray(begin, end), tag: `${steps.tag} ${begin} ${end}` };
}
