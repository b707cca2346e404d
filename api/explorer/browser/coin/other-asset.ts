import type { Figure } from '../../../../schemas/figure.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';
import type { CoinHistoryItem, CoinHistoryResponse } from '../../../../schemas/responses/history.ts';
import { isWhole } from '../history/rows.ts';

type Held = LoopResponse['step4_deployed'];
type Past = Pick<CoinHistoryResponse, 'items' | 'step' | 'localMaybeOfOtherAssets'>;

/** The sum, made absent where `account` puts balances of another asset in it: it is no amount of the quote asset. */
function without(sum: Figure, account: string | undefined, told: string): Figure {
  // Where the sum is absent already, the API's reason is the better one.
  if (account === undefined || sum.absent === true) return sum;
  const reason = `account ${account} ${told}`;
  return { value: null, source: sum.source, asOf: null, absent: true, reason };
}

/** What is held now, sums in the quote asset only: the answer itself names accounts of other assets. */
export const heldInQuote = (held: Held): Held => ({
  ...held,
  local: without(held.local, held.localOfOtherAssets?.[0], 'holds another asset than the quote'),
});

/**
 * The same for the past, for which the asset that an account held is not stored. An item inside of a step is left out
 * instead: the samples of the money loop are more frequent, and their assets are known.
 */
export function pastInQuote({ items, step, localMaybeOfOtherAssets }: Past): CoinHistoryItem[] {
  const account = localMaybeOfOtherAssets?.[0];
  const known = (item: CoinHistoryItem) => account === undefined || item.deployed.absent === true;
  return items
    .filter((item) => known(item) || isWhole(item.time, step))
    .map((item) => ({
      ...item,
      deployed: without(item.deployed, account, 'may have held another asset than the quote then'),
    }));
}
