import { NO_TOTALS } from '../../clickhouse/queries/analytics/policy-totals.ts';
import { figure } from '../../schemas/figure.ts';
import type { FeesResponse } from '../../schemas/responses/coin/fees.ts';
import { timeOf } from '../../schemas/units.ts';
import { claimsOfDay } from '../figures/day-windows.ts';
import { type Amount, dayReason, eventSum, incompleteLately, incompleteReason } from '../figures/missing.ts';
import { undatedLately } from '../figures/undated.ts';
import type { Coin } from './find.ts';

export const CLAIMS_SOURCE = 'indexer:fee_claims events';

/** `GET /coins/:mint/fees` */
export function fees({ mint, policy, view }: Coin): FeesResponse {
  const state = view.state();
  const day = claimsOfDay(view, mint);
  const all = view.get('totals', mint) ?? NO_TOTALS;
  const uncovered =
    dayReason(view) ?? undatedLately(view, ({ mint: of, kind }) => of === mint && kind === 'FeesClaimed');
  const lifetime = (amount: Amount, value: string) => {
    const reason = state.historyReason ?? incompleteReason(state, policy.address, amount);
    return eventSum(state, reason, value, CLAIMS_SOURCE, all.last_claim);
  };
  const last24h = (amount: Amount, value: string) => {
    const reason = uncovered ?? incompleteLately(view, policy.address, amount);
    return eventSum(state, reason, value, CLAIMS_SOURCE, day.last_time);
  };
  return {
    mint,
    quoteLeg: {
      lifetime: figure(policy.fees_claimed, 'chain:Policy.fees_claimed', timeOf(policy.block_time)),
      lifetimeFromEvents: lifetime('FeesClaimed.quoteAmount', all.fees_quote),
      last24h: last24h('FeesClaimed.quoteAmount', day.quote_amount),
    },
    baseLeg: {
      note: 'Summed from indexed FeesClaimed events: the chain keeps no counter of the base leg.',
      lifetime: lifetime('FeesClaimed.baseAmount', all.fees_base),
      last24h: last24h('FeesClaimed.baseAmount', day.base_amount),
    },
    claimCount: {
      lifetime: state.historyReason === null ? Number(all.claim_count) : null,
      last24h: uncovered === null ? Number(day.count) : null,
    },
    recentClaims: view.get('claims', mint).map((claim) => ({
      signature: claim.signature,
      slot: claim.slot,
      block_time: timeOf(claim.block_time),
      quoteAmount: claim.quote_amount,
      baseAmount: claim.base_amount,
    })),
  };
}
