import type { Figure } from '../../../../schemas/figure.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';
import type { CoinHistoryItem, CoinHistoryResponse } from '../../../../schemas/responses/history.ts';
import { isWhole } from '../history/rows.ts';

type Held = LoopResponse['step4_deployed'];
type Past = Pick<CoinHistoryResponse, 'items' | 'step' | 'localMaybeOfOtherAssets'>;

/** A sum that has balances of another asset in it is none of the quote asset. */
function without(sum: Figure, account: string | undefined, told: string): Figure {
  // Why there is none the API knows better.
  if (account === undefined || sum.absent === true) return sum;
  const reason = `account ${account} ${told}`;
  return { value: null, source: sum.source, asOf: null, absent: true, reason };
}

/** What is held now, as far as it is in the quote asset: the answer that has the sums says what they are of. */
export const heldInQuote = (held: Held): Held => ({
  ...held,
  local: without(held.local, held.localOfOtherAssets?.[0], 'holds another asset than the quote'),
});

/**
 * The same of the past, of which nobody kept what an account was of. A moment inside of a step is left out instead: the money
 * loop is read more often, and knows what is of the quote.
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
