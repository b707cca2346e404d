import { type Static, Type } from 'typebox';
import { Figure } from '../../figure.ts';
import { BooleanOrNull, closed, NumberOrNull, TextOrNull } from '../parts.ts';

const PollerReading = Type.Object(
  { reachable: Type.Boolean(), error: TextOrNull, equity: Figure, notional: Figure },
  closed,
);

export const Position = Type.Object(
  {
    venueAccount: Type.String(),
    venueAccountPda: Type.String(),
    assetClass: Type.Number(),
    assetMint: Type.String(),
    venue: TextOrNull,
    onChainAttestation: Type.Object(
      { equity: Figure, ageSeconds: NumberOrNull, stale: BooleanOrNull },
      closed,
    ),
    livePollerReading: Type.Union([PollerReading, Figure]),
  },
  closed,
);
export type Position = Static<typeof Position>;

/** `GET /coins/:mint/positions` */
export const PositionsResponse = Type.Object(
  { mint: Type.String(), positions: Type.Array(Position) },
  closed,
);
export type PositionsResponse = Static<typeof PositionsResponse>;
