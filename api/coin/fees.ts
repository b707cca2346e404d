import { claimsBetween, recentClaims } from '../../clickhouse/queries/claims.ts';
import { NO_TOTALS, policyTotals } from '../../clickhouse/queries/policy-totals.ts';
import { figure } from '../../schemas/figure.ts';
import type { FeesResponse } from '../../schemas/responses/fees.ts';
import { timeOf } from '../../schemas/units.ts';
import { dayReason, eventSum, incompleteReason } from '../figures/missing.ts';
import { lastDay } from '../figures/times.ts';
import type { IndexState } from '../latest/index-state.ts';
import type { Coin } from './find.ts';

export const CLAIMS_SOURCE = 'indexer:fee_claims events';

/** `GET /coins/:mint/fees` */
export function fees(coin: Coin): Promise<FeesResponse> {
  return coin.deps.index.readAsOne(coin.store, (state) => feesIn(coin, state));
}

async function feesIn({ mint, policy, store, context }: Coin, state: IndexState): Promise<FeesResponse> {
  const { after, until } = lastDay(context.now);
  const [totals, day, claims] = await Promise.all([
    policyTotals(store, [mint]),
    claimsBetween(store, mint, after, until),
    recentClaims(store, [mint]),
  ]);
  const all = totals.get(mint) ?? NO_TOTALS;
  const uncovered = dayReason(state, context.now);
  const incomplete = incompleteReason(state, policy.address);
  const lifetime = (value: string) =>
    eventSum(state, state.historyReason ?? incomplete, value, CLAIMS_SOURCE, all.last_claim);
  const last24h = (value: string) =>
    eventSum(state, uncovered ?? incomplete, value, CLAIMS_SOURCE, day.last_time);
  return {
    mint,
    quoteLeg: {
      lifetime: figure(policy.fees_claimed, 'chain:Policy.fees_claimed', timeOf(policy.block_time)),
      lifetimeFromEvents: lifetime(all.fees_quote),
      last24h: last24h(day.quote_amount),
    },
    baseLeg: {
      note: 'Summed from indexed FeesClaimed events: the chain keeps no counter of the base leg.',
      lifetime: lifetime(all.fees_base),
      last24h: last24h(day.base_amount),
    },
    claimCount: {
      lifetime: state.historyReason === null ? Number(all.claim_count) : null,
      last24h: uncovered === null ? Number(day.count) : null,
    },
    recentClaims: (claims.get(mint) ?? []).map((claim) => ({
      signature: claim.signature,
      slot: claim.slot,
      block_time: timeOf(claim.block_time),
      quoteAmount: claim.quote_amount,
      baseAmount: claim.base_amount,
    })),
  };
}
