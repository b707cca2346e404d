import type { Figure } from '../../../../schemas/figure.ts';
import type { CoinResponse, VenueAccount } from '../../../../schemas/responses/coin/coin.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';

type Held = LoopResponse['step4_deployed'];

/** The API adds up what accounts hold of the asset they are registered with: of another than the quote it is no part of a sum in it. */
function without(
  sum: Figure,
  { venueAccounts, quoteMint }: CoinResponse,
  also: (of: VenueAccount) => boolean,
) {
  const other = venueAccounts.find(
    (account) => account.kind === 'Local' && account.assetMint !== quoteMint && also(account),
  );
  if (other === undefined) return sum;
  const reason = `account ${other.tokenAccount} holds another asset than the quote`;
  return { value: null, source: sum.source, asOf: null, absent: true as const, reason };
}

/** What is held now, as far as it can be told in the quote asset. */
export const heldInQuote = (coin: CoinResponse, held: Held): Held => ({
  ...held,
  local: without(held.local, coin, ({ revoked }) => !revoked),
});

/** The same of a moment of the past: what is revoked by now may have been counted then. */
export const pastInQuote = <M extends { deployed: Figure }>(coin: CoinResponse, moment: M): M => ({
  ...moment,
  deployed: without(moment.deployed, coin, () => true),
});
