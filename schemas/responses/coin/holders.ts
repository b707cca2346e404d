import { type Static, Type } from 'typebox';
import { Figure } from '../../figure.ts';
import { closed } from '../parts.ts';

/** `GET /coins/:mint/holders`. No wallet is ever credited. */
export const HoldersResponse = Type.Object(
  {
    mint: Type.String(),
    tokensBurned: Figure,
    paidToHoldersQuote: Figure,
    paysHolders: Type.Boolean(),
    distribution: Figure,
  },
  closed,
);
export type HoldersResponse = Static<typeof HoldersResponse>;
