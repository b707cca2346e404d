import { type Static, Type } from 'typebox';
import { Figure } from '../figure.ts';
import { closed, figureOf, NumberOrNull, PolicyCount, TextOrNull, Time } from './parts.ts';

export const STEPS = ['hour', 'day'] as const;
export type Step = (typeof STEPS)[number];

const time = (description: string) => Type.Optional(Type.String({ description }));

export const HistoryQuery = Type.Object({
  from: time(
    'ISO 8601 or unix seconds; default: seven days before `to`. Rounded down to the beginning of its step.',
  ),
  to: time('ISO 8601 or unix seconds; default: now. Rounded down to the end of the last whole step.'),
  step: Type.Optional(
    Type.Enum([...STEPS], {
      description:
        'Default: hour for an interval of up to 14 days, day for a longer one. At most 1000 items.',
    }),
  ),
});

const range = { from: Time, to: Time, step: Type.Enum([...STEPS]) };

const ITEM_TIME = Type.Unsafe<string>({
  ...Time,
  description:
    'The end of the step: the figures are those that all blocks before this time left. That of the last item may be now.',
});

const TOTAL = 'since the policy began, up to this moment';

export const CoinHistoryItem = Type.Object(
  {
    time: ITEM_TIME,
    bankroll: figureOf('Balance of the bankroll.'),
    deployed: figureOf(
      'Balances of unrevoked Local accounts plus attested equity of unrevoked Remote ones, added as the program adds them. The present value is absent if a Local account has a mint that is neither the quote asset nor the one it was registered with. The mint of a past moment is not kept: see `localMaybeOfOtherAssets`.',
    ),
    attestedEquity: figureOf('The attested part of `deployed`: equity of the unrevoked Remote accounts.'),
    hwm: figureOf('The high water mark.'),
    feesClaimed: figureOf(`Fees claimed in the quote leg ${TOTAL}.`),
    profitSwept: figureOf(`Profit that left the bankroll in sweeps ${TOTAL}.`),
    tokensBurned: figureOf(`Tokens burned ${TOTAL}.`),
    marketCap: Type.Object({ quote: Figure, usd: Figure }, closed),
  },
  closed,
);
export type CoinHistoryItem = Static<typeof CoinHistoryItem>;

const localMaybeOfOtherAssets = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'Token accounts of Local accounts, revoked ones included, whose mint is not the quote asset now or when registered; left out if there are none. Past values of `deployed` may contain their balances unconverted.',
  }),
);

export const CoinHistoryResponse = Type.Object(
  { mint: Type.String(), ...range, items: Type.Array(CoinHistoryItem), localMaybeOfOtherAssets },
  { ...closed, $id: 'CoinHistory' },
);
export type CoinHistoryResponse = Static<typeof CoinHistoryResponse>;

const QuoteHistory = Type.Object(
  {
    quoteMint: Type.String(),
    quoteSymbol: TextOrNull,
    decimals: NumberOrNull,
    policyCount: PolicyCount,
    bankroll: Figure,
    deployed: Figure,
    attestedEquity: Figure,
    hwm: Figure,
    feesClaimed: Figure,
    profitSwept: Figure,
  },
  closed,
);
export type QuoteHistory = Static<typeof QuoteHistory>;

const ProtocolHistoryItem = Type.Object({ time: ITEM_TIME, byQuote: Type.Array(QuoteHistory) }, closed);

export const ProtocolHistoryResponse = Type.Object(
  { ...range, items: Type.Array(ProtocolHistoryItem) },
  { ...closed, $id: 'ProtocolHistory' },
);
export type ProtocolHistoryResponse = Static<typeof ProtocolHistoryResponse>;
