import {
  type Static,
  type TNull,
  type TOptional,
  type TSchema,
  type TString,
  type TUnion,
  Type,
} from 'typebox';
import { Figure } from '../../figure.ts';
import {
  type AddedPlainField,
  type CamelCase,
  type Plain,
  type PlainField,
  type PlainKind,
  plainFields,
} from '../../program/account-fields.ts';
import { camelCase } from '../../program/idl.ts';
import {
  BooleanOrNull,
  Compounded,
  closed,
  figureOf,
  Mode,
  ModelRef,
  NumberOrNull,
  orNull,
  TextOrNull,
  TimeOrNull,
} from '../parts.ts';

/** Spec 2.3. Each figure is absent for a reason of its own. */
export const MarketCap = Type.Object(
  {
    quote: Figure,
    usd: Figure,
    priceQuotePerBase: NumberOrNull,
    pool: Type.String(),
    poolStatus: NumberOrNull,
  },
  { ...closed, $id: 'MarketCap' },
);
export type MarketCap = Static<typeof MarketCap>;

/** The quote asset of a policy. The reasons are there only where the value beside them is null. */
export const QuoteAsset = Type.Object(
  {
    symbol: TextOrNull,
    name: TextOrNull,
    decimals: NumberOrNull,
    symbolSource: TextOrNull,
    symbolAbsentReason: Type.Optional(Type.String()),
    iconUrl: TextOrNull,
    iconSource: TextOrNull,
    priceUsd: TextOrNull,
    priceObservedAt: TimeOrNull,
    /** Which of the two sources gave the price; there only beside one. */
    priceSource: Type.Optional(Type.String()),
    priceAbsentReason: Type.Optional(Type.String()),
  },
  closed,
);
export type QuoteAsset = Static<typeof QuoteAsset>;

const tokenAccount = Type.String();
const venueAccount = {
  assetClass: Type.Number(),
  assetMint: Type.String(),
  revoked: Type.Boolean(),
};
const local = figureOf(
  'Its balance of `assetMint`; absent if the token account has another mint than it was registered with.',
);
export const VenueAccount = Type.Union([
  Type.Object({ tokenAccount, kind: Type.Literal('Local'), ...venueAccount, local }, closed),
  Type.Object(
    { tokenAccount, kind: Type.Literal('Remote'), ...venueAccount, remote: Figure, bridgedOut: Figure },
    closed,
  ),
]);
export type VenueAccount = Static<typeof VenueAccount>;

export const PdaBalance = Type.Object(
  {
    kind: Type.Union([
      Type.Literal('bankroll'),
      Type.Literal('quote_escrow'),
      Type.Literal('base_escrow'),
      Type.Literal('holder_rewards'),
    ]),
    tokenAccount: Type.String(),
    balance: Figure,
    decimals: NumberOrNull,
  },
  closed,
);
export type PdaBalance = Static<typeof PdaBalance>;

const PLAIN = { key: Type.String(), text: Type.String(), number: Type.Number(), flag: Type.Boolean() };
type PlainSchema<F extends PlainField> = (typeof PLAIN)[PlainKind<F> & keyof typeof PLAIN];
type PlainSchemas = {
  [F in PlainField as CamelCase<F>]: F extends AddedPlainField
    ? TUnion<[PlainSchema<F>, TNull]>
    : PlainSchema<F>;
} & { [F in AddedPlainField as `${CamelCase<F>}AbsentReason`]: TOptional<TString> };

/** Schemas of the policy's fields that are shown as they are; a reason is there only beside a value that is null. */
export const plainSchemas = (fields: readonly Plain[]): PlainSchemas =>
  Object.fromEntries(
    fields.flatMap(({ column, kind, added }): [string, TSchema][] => {
      const name = camelCase(column);
      if (!added) return [[name, PLAIN[kind]]];
      return [
        [name, orNull(PLAIN[kind])],
        [`${name}AbsentReason`, Type.Optional(Type.String())],
      ];
    }),
  ) as PlainSchemas;

/** `GET /coins/:mint` */
export const CoinResponse = Type.Object(
  {
    mint: Type.String(),
    name: TextOrNull,
    symbol: TextOrNull,
    imageUrl: TextOrNull,
    /** Why there is no image, or why the one that is known could not be read again. */
    imageReason: Type.Optional(Type.String()),
    metadataUri: TextOrNull,
    metadataAsOf: TimeOrNull,
    quoteMint: Type.String(),
    quote: QuoteAsset,
    feeKeyMint: Type.String(),
    lastIndexedSignature: TextOrNull,
    updatedAt: TimeOrNull,
    marketCap: MarketCap,
    authority: Type.String(),
    agent: TextOrNull,
    guardian: Type.String(),
    origin: Type.Object(
      { pubkey: Type.String(), name: TextOrNull, assetClassMask: NumberOrNull, maxRisk: NumberOrNull },
      closed,
    ),
    mode: Mode,
    model: ModelRef,
    feeSplit: Type.Object({ toLpBps: Type.Number(), toBankrollBps: Type.Number() }, closed),
    profitSplit: Type.Object(
      { toLpBps: Type.Number(), toHoldersBps: Type.Number(), toBankrollBps: Type.Number() },
      closed,
    ),
    ...plainSchemas(plainFields()),
    protocolPaused: BooleanOrNull,
    moneyPathsFrozen: BooleanOrNull,
    counters: Type.Object(
      {
        feesClaimedQuote: Figure,
        protocolFees: Figure,
        routedToLp: Compounded,
        routedToBankroll: Figure,
        profitSwept: Figure,
        paidToHolders: Figure,
        tokensBurned: Figure,
        creditSpent: Figure,
      },
      closed,
    ),
    hwm: Figure,
    venueAccounts: Type.Array(VenueAccount),
    pdaBalances: Type.Array(PdaBalance, { minItems: 4, maxItems: 4 }),
  },
  closed,
);
export type CoinResponse = Static<typeof CoinResponse>;
