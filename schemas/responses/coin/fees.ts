import { type Static, Type } from 'typebox';
import { Figure } from '../../figure.ts';
import { Amount, closed, NumberOrNull, Slot, TimeOrNull } from '../parts.ts';

export const RECENT_CLAIMS_MAX = 100;

/** `GET /coins/:mint/fees` */
export const FeesResponse = Type.Object(
  {
    mint: Type.String(),
    quoteLeg: Type.Object({ lifetime: Figure, lifetimeFromEvents: Figure, last24h: Figure }, closed),
    baseLeg: Type.Object({ note: Type.String(), lifetime: Figure, last24h: Figure }, closed),
    claimCount: Type.Object({ lifetime: NumberOrNull, last24h: NumberOrNull }, closed),
    recentClaims: Type.Array(
      Type.Object(
        {
          signature: Type.String(),
          slot: Slot,
          block_time: TimeOrNull,
          quoteAmount: Amount,
          baseAmount: Amount,
        },
        closed,
      ),
      { maxItems: RECENT_CLAIMS_MAX },
    ),
  },
  closed,
);
export type FeesResponse = Static<typeof FeesResponse>;
