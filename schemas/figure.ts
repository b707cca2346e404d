import { type Static, Type } from 'typebox';

/** A number and where it came from, or the reason why there is none (spec 2.1). Made by `figure` and `absent` only. */
export const Figure = Type.Object(
  {
    value: Type.Union([Type.String(), Type.Number(), Type.Null()]),
    source: Type.String(),
    asOf: Type.Union([Type.String(), Type.Null()]),
    absent: Type.Optional(
      Type.Literal(true, {
        description: 'True if the value is null because it cannot be determined; otherwise left out.',
      }),
    ),
    reason: Type.Optional(Type.String()),
  },
  { $id: 'Figure' },
);
export type Figure = Static<typeof Figure>;

/**
 * A present figure. Token amounts are bigint or decimal string in base units and are served as decimal strings.
 * @param asOf ISO 8601 UTC, or null where no source knows the time of the reading.
 */
export function figure(value: bigint | string | number, source: string, asOf: string | null): Figure {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError(`figure from ${source} is not a finite number`);
  }
  return { value: typeof value === 'bigint' ? value.toString() : value, source, asOf };
}

/** A figure that cannot be determined; `reason` names what was checked and why nothing was found. */
export function absent(source: string, reason: string): Figure {
  return { value: null, source, asOf: null, absent: true, reason };
}
