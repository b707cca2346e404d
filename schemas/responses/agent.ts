import { type Static, Type } from 'typebox';
import { Figure } from '../figure.ts';
import { closed, orNull, TextOrNull, Time, TimeOrNull } from './parts.ts';

export const Challenge = Type.Object(
  { nonce: Type.String(), message: Type.String(), expiresAt: Time },
  { ...closed, $id: 'Challenge' },
);
export type Challenge = Static<typeof Challenge>;

export const Session = Type.Object(
  { token: Type.String(), tokenType: Type.Literal('Bearer'), expiresAt: Time },
  { ...closed, $id: 'Session' },
);
export type Session = Static<typeof Session>;

export const Direction = Type.Union([Type.Literal('long'), Type.Literal('short')]);
export type Direction = Static<typeof Direction>;

/** The options venue's quote of one instrument: prices per contract, decimal strings. */
export const OptionQuote = Type.Object(
  {
    best_bid_price: Figure,
    best_ask_price: Figure,
    mark_price: Figure,
    index_price: Figure,
    delta: Figure,
    iv: Figure,
    venueTimestamp: TimeOrNull,
    reference: Type.Object(
      { side: Type.Union([Type.Literal('bid'), Type.Literal('ask')]), price: Figure },
      closed,
    ),
  },
  { ...closed, $id: 'OptionQuote' },
);
export type OptionQuote = Static<typeof OptionQuote>;

export const Exposure = Type.Object(
  {
    positionId: Type.String(),
    mint: Type.String(),
    agent: Type.String(),
    instrument: Type.String(),
    underlying: Type.String(),
    optionType: Type.Union([Type.Literal('C'), Type.Literal('P')]),
    strike: Type.String(),
    expiry: Time,
    direction: Direction,
    size: Type.String(),
    reason: Type.String(),
    status: Type.Union([Type.Literal('held'), Type.Literal('released')]),
    openedAt: Time,
    openQuote: OptionQuote,
    releasedAt: TimeOrNull,
    releaseReason: TextOrNull,
    releaseQuote: orNull(OptionQuote),
  },
  { ...closed, $id: 'Exposure' },
);
export type Exposure = Static<typeof Exposure>;

export const StatusFilter = Type.Union([Type.Literal('held'), Type.Literal('released'), Type.Literal('all')]);
export type StatusFilter = Static<typeof StatusFilter>;

/** `GET /api/agent/options/positions` */
export const ExposuresResponse = Type.Object(
  { mint: Type.String(), status: StatusFilter, items: Type.Array(Exposure) },
  closed,
);
export type ExposuresResponse = Static<typeof ExposuresResponse>;

/** How the quote moved, on the same side of the book at both ends; per contract. Absent where either end is. */
export const MarkToMark = Type.Object(
  {
    side: Type.Union([Type.Literal('bid'), Type.Literal('ask')]),
    openPrice: Figure,
    releasePrice: Figure,
    change: Figure,
    absent: Type.Optional(Type.Literal(true)),
    reason: Type.Optional(Type.String()),
    note: Type.String(),
  },
  closed,
);
export type MarkToMark = Static<typeof MarkToMark>;

/** `POST /api/agent/options/close` */
export const ReleaseResponse = Type.Object({ position: Exposure, markToMark: MarkToMark }, closed);
export type ReleaseResponse = Static<typeof ReleaseResponse>;
