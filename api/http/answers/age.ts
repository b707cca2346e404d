import type { Latest } from '../../latest/latest.ts';

/**
 * The Age field: how old answers from memory are while the store is silent, in whole seconds; none while it answers.
 */
export function ageField(latest: Latest): { Age?: string } {
  const age = Math.floor(latest.age() / 1000);
  return age > 0 ? { Age: String(age) } : {};
}
