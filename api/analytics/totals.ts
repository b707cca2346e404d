import type { QuoteTotalsRow } from '../../clickhouse/queries/analytics/totals.ts';
import { figure } from '../../schemas/figure.ts';
import type { AnalyticsResponse } from '../../schemas/responses/analytics.ts';
import { timeOf } from '../../schemas/units.ts';
import type { Quote } from '../figures/quotes.ts';
import { absentWhere } from '../figures/unknown-policies.ts';

type Totals = AnalyticsResponse['protocolTotals'];

/** Policies and the sums of their counters, per quote asset: amounts of different assets do not add up. */
export function protocolTotals(
  rows: readonly QuoteTotalsRow[],
  quotes: ReadonlyMap<string, Quote>,
  unlisted: string | null,
): Totals {
  const count = (of: (row: QuoteTotalsRow) => number) =>
    unlisted === null ? rows.reduce((sum, row) => sum + of(row), 0) : null;
  return {
    policyCount: count((row) => row.policy_count),
    agentPolicyCount: count((row) => row.agent_count),
    passivePolicyCount: count((row) => row.policy_count - row.agent_count),
    lockedPolicyCount: count((row) => row.locked_count),
    pausedPolicyCount: count((row) => row.paused_count),
    ...(unlisted === null ? {} : { countsAbsentReason: unlisted }),
    byQuote: rows.map((row) => totalsOf(row, quotes.get(row.quote_mint), unlisted)),
  };
}

function totalsOf(
  row: QuoteTotalsRow,
  quote: Quote | undefined,
  unlisted: string | null,
): Totals['byQuote'][number] {
  const sum = (value: string, field: string) =>
    figure(value, `chain:Policy.${field}`, timeOf(row.oldest_time));
  return {
    quoteMint: row.quote_mint,
    quoteSymbol: quote?.view.symbol ?? null,
    decimals: quote?.decimals ?? null,
    policyCount: unlisted === null ? row.policy_count : null,
    ...absentWhere(unlisted, {
      feesClaimed: sum(row.fees_claimed, 'fees_claimed'),
      protocolFees: sum(row.protocol_fees, 'protocol_fees'),
      routedToLp: sum(row.routed_to_lp, 'routed_to_lp'),
      routedToBankroll: sum(row.routed_to_bankroll, 'routed_to_bankroll'),
      profitSwept: sum(row.profit_swept, 'profit_swept'),
      paidToHolders: sum(row.paid_to_holders, 'paid_to_holders'),
      creditSpent: sum(row.credit_spent, 'credit_spent'),
    }),
  };
}
