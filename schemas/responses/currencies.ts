import { type Static, Type } from 'typebox';
import { Figure } from '../figure.ts';
import { closed, TimeOrNull } from './parts.ts';

/** `GET /venues/<options_venue>/currencies`: the currencies that have options. */
export const CurrenciesResponse = Type.Object(
  {
    venue: Type.String(),
    source: Type.String(),
    asOf: TimeOrNull,
    items: Type.Array(
      Type.Object(
        {
          currency: Type.String(),
          spotPrice: Figure,
          hasOptions: Type.Boolean(),
          hasPerps: Type.Boolean(),
        },
        closed,
      ),
    ),
    absent: Type.Optional(Type.Literal(true)),
    reason: Type.Optional(Type.String()),
  },
  closed,
);
export type CurrenciesResponse = Static<typeof CurrenciesResponse>;
