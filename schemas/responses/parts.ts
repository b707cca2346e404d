import { type Static, type TSchema, Type } from 'typebox';
import { Figure } from '../figure.ts';

/** Pieces that several responses share. */

export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const closed = { additionalProperties: false } as const;

/** ISO 8601 UTC with milliseconds, the one form in which times are served. */
export const Time = Type.String({ pattern: '^-?\\d{4,6}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' });
export const TimeOrNull = orNull(Time);
export const Slot = Type.String({ pattern: '^\\d+$' });
export const Amount = Type.String({ pattern: '^-?\\d+$' });
export const TextOrNull = orNull(Type.String());
export const NumberOrNull = orNull(Type.Number());
/** A count over all policies: null where not all of them are known. */
export const PolicyCount = Type.Unsafe<number | null>({
  ...NumberOrNull,
  description: 'Null while not all policies are known.',
});
/** A figure with a description, for one whose name says too little. */
export const figureOf = (description: string) => Type.Unsafe<Figure>({ allOf: [Figure], description });
export const BooleanOrNull = orNull(Type.Boolean());

/** `Policy.routed_to_lp`, whose name would fit another sum: that of Routed.toLp. */
export const Compounded = figureOf(
  'What compound_lp put into the pool of the token. Not what route earmarked for it: that is the sum of Routed.toLp.',
);

export const Mode = Type.Union([Type.Literal('Passive'), Type.Literal('Agent')]);
export type Mode = Static<typeof Mode>;

/** The model a policy points at; only the id is known where the registry has no such entry. */
export const ModelRef = Type.Object(
  { id: Type.Number(), name: TextOrNull, provider: TextOrNull, enabled: BooleanOrNull },
  closed,
);
export type ModelRef = Static<typeof ModelRef>;

export const ErrorBody = Type.Object({ error: Type.String() }, { ...closed, $id: 'Error' });
export type ErrorBody = Static<typeof ErrorBody>;

/** Sent with Retry-After where too many reads wait already. */
export const BusyBody = Type.Object(
  { error: Type.String(), code: Type.Literal('busy') },
  { ...closed, $id: 'Busy' },
);

export const InternalError = Type.Object(
  { error: Type.Literal('internal error'), detail: Type.String() },
  { ...closed, $id: 'InternalError' },
);
