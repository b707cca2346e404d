import type { Reading } from './view.ts';

/** Null where something is lacking: what was made or thrown without it says nothing. */
export function attempt<T>(
  make: () => T,
  { lacks, lacksRanked, isUnfinished }: Reading,
): { value: T } | null {
  const isLacking = () => lacks.size > 0 || lacksRanked() || isUnfinished();
  try {
    const value = make();
    return isLacking() ? null : { value };
  } catch (error) {
    if (!isLacking()) throw error;
    return null;
  }
}
