/**
 * Steps that are summed together, and kept until something of them changes. Blocks begin at fixed ends, whatever range
 * is asked for: all requests share what was read, and many ranges cost no more than the whole past once.
 */
export const STEPS_A_BLOCK = 168;

/** Ends of steps in hours since 1970, the first and the last of a block, and how many of them are passed. */
export interface Block {
  first: number;
  last: number;
  passed: number;
}

/** The ends of steps from one to another. @param each hours between two */
export function endsIn(first: number, last: number, each: number): number[] {
  const ends: number[] = [];
  for (let end = first; end <= last; end += each) ends.push(end);
  return ends;
}

/** The blocks in which the ends of a range lie, oldest first. @param each hours between two ends. */
export function blocksOf(ends: readonly number[], each: number, passed: number): Block[] {
  const [from, to] = [ends[0], ends.at(-1)];
  if (from === undefined || to === undefined) return [];
  const long = STEPS_A_BLOCK * each;
  const beginOf = (end: number) => Math.floor(end / long) * long;
  return endsIn(beginOf(from), beginOf(to), long).map((first) => {
    const last = first + long - each;
    const known = Math.floor((Math.min(passed, last) - first) / each) + 1;
    return { first, last, passed: Math.max(0, known) };
  });
}
