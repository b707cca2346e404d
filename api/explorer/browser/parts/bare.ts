import type { Figure } from '../../../../schemas/figure.ts';

/** A figure as the API serves it, or a number that it serves bare, which has no `asOf` where nothing dates it. */
export type Told = Omit<Figure, 'asOf'> & { asOf?: string | null };

/** Makes a figure of a number that the API serves bare, such as a count or a term. */
export function bare(
  value: number | string | null,
  source: string,
  { asOf, reason }: { asOf?: string | null; reason?: string | undefined } = {},
): Told {
  const dated = asOf === undefined ? {} : { asOf };
  return value === null
    ? { value, source, ...dated, absent: true, reason: reason ?? 'it is not read yet' }
    : { value, source, ...dated };
}
