import { type Static, Type } from 'typebox';
import { Figure } from '../figure.ts';
import {
  BooleanOrNull,
  Compounded,
  closed,
  figureOf,
  NumberOrNull,
  orNull,
  PolicyCount,
  TextOrNull,
  TimeOrNull,
} from './parts.ts';

const QuoteTotals = Type.Object(
  {
    quoteMint: Type.String(),
    quoteSymbol: TextOrNull,
    decimals: NumberOrNull,
    policyCount: PolicyCount,
    feesClaimed: Figure,
    protocolFees: Figure,
    routedToLp: Compounded,
    routedToBankroll: Figure,
    profitSwept: Figure,
    paidToHolders: Figure,
    creditSpent: Figure,
  },
  closed,
);

const ProtocolTotals = Type.Object(
  {
    policyCount: PolicyCount,
    agentPolicyCount: PolicyCount,
    passivePolicyCount: PolicyCount,
    lockedPolicyCount: PolicyCount,
    pausedPolicyCount: PolicyCount,
    countsAbsentReason: Type.Optional(
      Type.String({ description: 'Why the counts are null; only if they are.' }),
    ),
    byQuote: Type.Array(QuoteTotals),
  },
  closed,
);

/** All but the program addresses are null until the config account is read. */
export const ProtocolConfigView = Type.Object(
  {
    paused: BooleanOrNull,
    protocolFeeBps: NumberOrNull,
    maxBankrollBps: NumberOrNull,
    maxRemoteStaleness: TextOrNull,
    maxDeviationBps: NumberOrNull,
    minRiskForClass: orNull(Type.Array(Type.Number(), { minItems: 8, maxItems: 8 })),
    launchpadProgram: Type.String(),
    ammProgram: Type.String(),
    source: Type.String({
      description:
        'While the config account has not been read, it says so, and that the program addresses are the configured ones.',
    }),
    asOf: TimeOrNull,
  },
  closed,
);
export type ProtocolConfigView = Static<typeof ProtocolConfigView>;

const dayFigures = {
  routedToLp: figureOf(
    'What route earmarked for the pool of the token: the sum of Routed.toLp. Not what compound_lp put into it.',
  ),
  routedToBankroll: Figure,
  protocolCut: Figure,
  profitSwept: figureOf(
    'Profit above the high water mark that sweeps found: the sum of ProfitSwept.profit. Not what left the bankroll.',
  ),
  spentOnBuybacks: Figure,
};
export const RevenueDay = Type.Object(
  {
    day: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' }),
    ...dayFigures,
    byQuote: Type.Array(
      Type.Object({ quoteMint: Type.String(), decimals: NumberOrNull, ...dayFigures }, closed),
    ),
  },
  closed,
);
export type RevenueDay = Static<typeof RevenueDay>;

/** `GET /analytics`. Sums over all quotes are literal; `byQuote` is the one to read. */
export const AnalyticsResponse = Type.Object(
  {
    protocolTotals: ProtocolTotals,
    protocolConfig: ProtocolConfigView,
    bridgeFlow: Type.Object(
      {
        perVenue: Type.Array(
          Type.Object(
            {
              venue: Type.String(),
              accountCount: PolicyCount,
              bridgedOut: Figure,
              attestedEquity: Figure,
              gap: Figure,
            },
            closed,
          ),
        ),
      },
      closed,
    ),
    revenueByDayTimeSeries: Type.Array(RevenueDay),
  },
  closed,
);
export type AnalyticsResponse = Static<typeof AnalyticsResponse>;
