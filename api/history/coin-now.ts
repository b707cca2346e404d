import { figure } from '../../schemas/figure.ts';
import type { CoinHistoryItem } from '../../schemas/responses/history.ts';
import { timeOf } from '../../schemas/units.ts';
import type { Coin } from '../coin/find.ts';
import { attestedEquity, localBalances, unrevokedAccounts } from '../coin/venue-account.ts';
import { balanceOf } from '../figures/balances.ts';
import { marketCapOf } from '../figures/market-cap.ts';
import type { Quote } from '../figures/quotes.ts';
import { venueSums, venuesUnknown } from './venues.ts';

/** The latest states, as the item of the step that is not over. */
export function coinNow({ policy, view }: Coin, pool: string, quote: Quote): Omit<CoinHistoryItem, 'time'> {
  const { local, remote, reason } = unrevokedAccounts(view, policy);
  const asOf = timeOf(policy.block_time);
  const cap = marketCapOf(pool, view.get('pool', pool), quote);
  return {
    bankroll: balanceOf(policy.bankroll, view.get('tokenAccount', policy.bankroll)),
    ...(reason === null
      ? venueSums(localBalances(view, local, policy.quote_mint), remote.map(attestedEquity), asOf)
      : venuesUnknown(reason)),
    hwm: figure(policy.hwm, 'chain:Policy.hwm', asOf),
    feesClaimed: figure(policy.fees_claimed, 'chain:Policy.fees_claimed', asOf),
    profitSwept: figure(policy.profit_swept, 'chain:Policy.profit_swept', asOf),
    tokensBurned: figure(policy.tokens_burned, 'chain:Policy.tokens_burned', asOf),
    marketCap: { quote: cap.quote, usd: cap.usd },
  };
}
