import type { Figure } from '../../../../schemas/figure.ts';

/** A figure as the API serves it, or a number that it serves bare; that has no time of its own where nothing dates it. */
export type Told = Omit<Figure, 'asOf'> & { asOf?: string | null };

/** A number that the API serves bare, as a count or a term, with the source that it has. */
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
