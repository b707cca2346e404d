import { NO_TOTALS } from '../../clickhouse/queries/analytics/policy-totals.ts';
import type { StoredPolicy } from '../../clickhouse/queries/states/policy.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import type { LoopResponse } from '../../schemas/responses/coin/loop.ts';
import { sixDigits, timeOf } from '../../schemas/units.ts';
import { BALANCE_SOURCE, balanceOf, sumOf } from '../figures/balances.ts';
import { type Amount, eventSum, incompleteReason } from '../figures/missing.ts';
import { ATTESTED_SOURCE, BUYBACK_SOURCE, ROUTED_SOURCE, SWEPT_SOURCE } from '../figures/sources.ts';
import { CLAIMS_SOURCE } from './fees.ts';
import type { Coin } from './find.ts';
import { attestedEquity, localBalances, localOfOtherAssets, unrevokedAccounts } from './venue-account.ts';

/** `GET /coins/:mint/loop` */
export function loop({ mint, policy, view }: Coin): LoopResponse {
  const state = view.state();
  const { local, remote, reason: unknown } = unrevokedAccounts(view, policy);
  const all = view.get('totals', mint) ?? NO_TOTALS;
  const sum = (amount: Amount, value: string, source: string, lastTime: string | null) => {
    const reason = state.historyReason ?? incompleteReason(state, policy.address, amount);
    return eventSum(state, reason, value, source, lastTime);
  };
  const asOf = timeOf(policy.block_time);
  const deployed = (figures: readonly Figure[], source: string) =>
    unknown === null ? sumOf(figures, source, asOf) : absent(source, unknown);
  const others = localOfOtherAssets(view, local, policy.quote_mint);
  return {
    mint,
    step1_feesClaimed: {
      quoteLeg: sum('FeesClaimed.quoteAmount', all.fees_quote, CLAIMS_SOURCE, all.last_claim),
      baseLeg: sum('FeesClaimed.baseAmount', all.fees_base, CLAIMS_SOURCE, all.last_claim),
    },
    step2_routed: {
      protocolCut: sum('Routed.protocolCut', all.protocol_cut, ROUTED_SOURCE, all.last_routed),
      toLp: sum('Routed.toLp', all.routed_to_lp, ROUTED_SOURCE, all.last_routed),
      toBankroll: sum('Routed.toBankroll', all.routed_to_bankroll, ROUTED_SOURCE, all.last_routed),
    },
    step3_lpCompounded: absent(
      'indexer:events',
      'compound_lp emits no event; Policy.routed_to_lp is the authoritative cumulative figure',
    ),
    step4_deployed: {
      local: deployed(localBalances(view, local, policy.quote_mint), BALANCE_SOURCE),
      remote: deployed(remote.map(attestedEquity), ATTESTED_SOURCE),
      bankrollUnspent: balanceOf(policy.bankroll, view.get('tokenAccount', policy.bankroll)),
      ...(others.length === 0 ? {} : { localOfOtherAssets: others }),
    },
    step5_profit: {
      hwm: figure(policy.hwm, 'chain:Policy.hwm', asOf),
      totalSwept: figure(policy.profit_swept, 'chain:Policy.profit_swept', asOf),
      toHoldersStaged: sum('ProfitSwept.toHolders', all.profit_to_holders, SWEPT_SOURCE, all.last_swept),
      toLpFromProfit: sum('ProfitSwept.toLp', all.profit_to_lp, SWEPT_SOURCE, all.last_swept),
    },
    step6_buyback: {
      spent: sum('BuybackBurned.spent', all.buyback_spent, BUYBACK_SOURCE, all.last_buyback),
      burned: sum('BuybackBurned.burned', all.buyback_burned, BUYBACK_SOURCE, all.last_buyback),
    },
    credit: {
      spent: figure(policy.credit_spent, 'chain:Policy.credit_spent', asOf),
      returnPerCredit: returnPerCredit(policy, asOf),
    },
  };
}

function returnPerCredit(policy: StoredPolicy, asOf: string | null): Figure {
  const spent = BigInt(policy.credit_spent);
  return spent === 0n
    ? absent('computed', 'Policy.credit_spent is zero, so there is nothing to divide by')
    : figure(sixDigits(BigInt(policy.profit_swept), spent), 'computed', asOf);
}
