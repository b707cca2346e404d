import { type Static, Type } from 'typebox';
import { Figure } from '../figure.ts';
import type { AccountColumns } from '../program/account-fields.ts';
import type { PolicyEvent } from '../program/event-kinds.ts';
import { MarketCap } from './coin/coin.ts';
import {
  BooleanOrNull,
  closed,
  Mode,
  ModelRef,
  NumberOrNull,
  orNull,
  PolicyCount,
  TextOrNull,
  TimeOrNull,
} from './parts.ts';

/** In the order in which a refusal lists them. */
export const SORTS = ['marketCap', 'profit', 'fees', 'burned', 'bankroll', 'activity', 'newest'] as const;
export type Sort = (typeof SORTS)[number];
export const ORDERS = ['desc', 'asc'] as const;
export type Order = (typeof ORDERS)[number];

/** A number of the policy's own account to rank by. */
type OwnKey = { column: keyof AccountColumns<'Policy'> } & (
  | {
      /** An amount of the quote asset: ranked by dollars unless one asset is asked for. */
      money: true;
      /** Whether a row shows it under the sort's name, in dollars too; not where it has another figure for that. */
      shown: boolean;
    }
  | { money: false; shown: false }
);

/** The sorts by a number of the policy's own account; orders in memory and in the engine, and rows, follow it. */
export const OWN_KEYS = {
  profit: { column: 'profit_swept', money: true, shown: true },
  burned: { column: 'paid_to_holders', money: true, shown: false },
  newest: { column: 'created_at', money: false, shown: false },
} as const satisfies Partial<Record<Sort, OwnKey>>;
export type OwnSort = keyof typeof OWN_KEYS;
export type ShownSort = {
  [S in OwnSort]: (typeof OWN_KEYS)[S]['shown'] extends true ? S : never;
}[OwnSort];

export const OWN_SORTS = Object.keys(OWN_KEYS) as OwnSort[];
const SHOWN_SORTS = OWN_SORTS.filter((sort) => OWN_KEYS[sort].shown) as ShownSort[];

/** One value for each sort whose number rows show. */
export const perShownSort = <T>(make: (sort: ShownSort) => T) =>
  Object.fromEntries(SHOWN_SORTS.map((sort) => [sort, make(sort)])) as Record<ShownSort, T>;

/** An amount of the quote asset that a kind of event has, summed over a policy's events to rank by. */
type SumKey = {
  [E in PolicyEvent as E['event']]: { kind: E['event']; amount: keyof E['fields'] };
}[PolicyEvent['event']] & {
  /** Columns of the totals of policies: the sum, and the time of the newest event in it. */
  column: string;
  newest: string;
};

/** The sorts by such a sum; orders and rows follow this table too, and rows show each, in dollars too. */
export const SUM_KEYS = {
  fees: { kind: 'Routed', amount: 'amount', column: 'routed', newest: 'last_routed' },
} as const satisfies Partial<Record<Sort, SumKey>>;
export type SumSort = keyof typeof SUM_KEYS;

export const SUM_SORTS = Object.keys(SUM_KEYS) as SumSort[];
export const isSummed = (sort: Sort): sort is SumSort => sort in SUM_KEYS;

/** One value for each sort by a sum. */
export const perSumSort = <T>(make: (sort: SumSort) => T) =>
  Object.fromEntries(SUM_SORTS.map((sort) => [sort, make(sort)])) as Record<SumSort, T>;

const BURNED_NOTE =
  '`burned` ranks by what was paid for what was burned (`Policy.paid_to_holders`, an amount of the quote asset); the row shows what was burned (`Policy.tokens_burned`, an amount of the launched token).';
const SORT_NOTE = `Default marketCap. ${BURNED_NOTE}`;

const text = (description: string) => Type.Optional(Type.String({ description }));

export const RankingsQuery = Type.Object({
  sort: Type.Optional(Type.Enum([...SORTS], { description: SORT_NOTE })),
  order: Type.Optional(Type.Enum([...ORDERS])),
  limit: text('1 to 200 (default 50); values outside are clamped.'),
  offset: text('0 to 100000 (default 0); values outside are clamped.'),
  mode: Type.Optional(Mode),
  origin: text('Id of an origin.'),
  model: text('Id of a model.'),
  quote: text('Mint of a quote asset; money sorts then rank by raw amounts.'),
  locked: Type.Optional(Type.Enum(['true', 'false'])),
  paused: Type.Optional(Type.Enum(['true', 'false'])),
  search: text("Case-insensitive substring of the launched token's name or symbol, or a prefix of its mint."),
});

export const RankingFilters = Type.Object(
  {
    mode: orNull(Mode),
    origin: NumberOrNull,
    model: NumberOrNull,
    quote: TextOrNull,
    locked: BooleanOrNull,
    paused: BooleanOrNull,
    search: TextOrNull,
  },
  closed,
);
export type RankingFilters = Static<typeof RankingFilters>;

export const RankingRow = Type.Object(
  {
    rank: Type.Number(),
    mint: Type.String(),
    mintName: TextOrNull,
    mintSymbol: TextOrNull,
    mintImageUrl: TextOrNull,
    quoteMint: Type.String(),
    quoteSymbol: TextOrNull,
    quoteSymbolSource: TextOrNull,
    quoteSymbolAbsentReason: Type.Optional(Type.String()),
    quoteDecimals: NumberOrNull,
    mode: Mode,
    origin: Type.Object({ id: Type.Number(), name: TextOrNull }, closed),
    model: ModelRef,
    risk: Type.Number(),
    locked: Type.Boolean(),
    paused: Type.Boolean(),
    marketCap: MarketCap,
    ...perShownSort(() => Figure),
    ...perSumSort(() => Figure),
    burned: Figure,
    bankroll: Figure,
    usd: Type.Object(
      { ...perShownSort(() => Figure), ...perSumSort(() => Figure), bankroll: Figure },
      closed,
    ),
    eventsLast24h: Figure,
    createdAt: TimeOrNull,
  },
  { ...closed, $id: 'RankingRow', description: `Of the sorts, ${BURNED_NOTE}` },
);
export type RankingRow = Static<typeof RankingRow>;

/** `GET /rankings` */
export const RankingsResponse = Type.Object(
  {
    sort: Type.Enum([...SORTS]),
    order: Type.Enum([...ORDERS]),
    limit: Type.Number(),
    offset: Type.Number(),
    total: PolicyCount,
    totalAbsentReason: Type.Optional(Type.String({ description: 'Why the total is null; only if it is.' })),
    hasMore: Type.Boolean(),
    filters: RankingFilters,
    items: Type.Array(RankingRow),
  },
  closed,
);
export type RankingsResponse = Static<typeof RankingsResponse>;
