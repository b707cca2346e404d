import type { Reading } from './view.ts';

/** Calls `make`; null where something it needs is not loaded: neither its result nor its error means anything then. */
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
