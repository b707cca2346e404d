/** Whether a JSON value has the expected type: what wrote it may be of a later version, or no version of ours. */
export type Check<T> = (value: unknown) => value is T;

/** A check for every field; the check of an optional field accepts undefined too. */
export type Shape<T> = { [K in keyof T]-?: Check<T[K]> };

/** Any string passes, also where T is a union of literals: a later version may have more of them. */
export const text = <T extends string>(value: unknown): value is T => typeof value === 'string';
export const flag: Check<boolean> = (value) => typeof value === 'boolean';
export const finite = (value: unknown): value is number => Number.isFinite(value);
export const whole = (value: unknown): value is number => Number.isSafeInteger(value);

/** A whole number from 0 on. */
export const upTo =
  (most: number): Check<number> =>
  (value): value is number =>
    whole(value) && value >= 0 && value <= most;

const U64 = 0xffff_ffff_ffff_ffffn;

/** An unsigned 64-bit integer in decimal digits, since it may be more than a JSON number holds exactly. */
export const u64Text = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{1,20}$/.test(value) && BigInt(value) <= U64;

export const orNull =
  <T>(check: Check<T>): Check<T | null> =>
  (value) =>
    value === null || check(value);

export const orAbsent =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value) =>
    value === undefined || check(value);

export const listOf =
  <T>(check: Check<T>): Check<T[]> =>
  (value) =>
    Array.isArray(value) && value.every((one) => check(one));

export const objectOf =
  <T>(shape: Shape<T>): Check<T> =>
  (value): value is T =>
    typeof value === 'object' && value !== null && firstInvalidField(value, shape) === null;

/** The first field that is not as it should be; null where all are. */
export function firstInvalidField<T>(value: object, shape: Shape<T>): string | null {
  const fields = value as Record<string, unknown>;
  for (const [name, check] of Object.entries<Check<unknown>>(shape)) if (!check(fields[name])) return name;
  return null;
}
