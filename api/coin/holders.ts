import { absent, figure } from '../../schemas/figure.ts';
import type { HoldersResponse } from '../../schemas/responses/coin/holders.ts';
import { timeOf } from '../../schemas/units.ts';
import type { Coin } from './find.ts';

/** `GET /coins/:mint/holders` */
export function holders({ mint, policy }: Coin): HoldersResponse {
  const asOf = timeOf(policy.block_time);
  return {
    mint,
    tokensBurned: figure(policy.tokens_burned, 'chain:Policy.tokens_burned', asOf),
    paidToHoldersQuote: figure(policy.paid_to_holders, 'chain:Policy.paid_to_holders', asOf),
    paysHolders: policy.profit_to_holders_bps > 0,
    distribution: absent('indexer:holders', 'holder distribution is not built; no wallet is ever credited'),
  };
}
