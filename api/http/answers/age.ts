import type { Latest } from '../../latest/latest.ts';

/** How old what is told from memory is while the store is silent, in whole seconds; nothing while it answers. */
export function ageField(latest: Latest): { Age?: string } {
  const age = Math.floor(latest.age() / 1000);
  return age > 0 ? { Age: String(age) } : {};
}
