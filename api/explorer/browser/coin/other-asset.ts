import type { Figure } from '../../../../schemas/figure.ts';
import type { CoinResponse, VenueAccount } from '../../../../schemas/responses/coin/coin.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';

type Held = LoopResponse['step4_deployed'];
type Local = Extract<VenueAccount, { kind: 'Local' }>;

/** A step that is over ends with a whole one, be it an hour or a day. */
const HOUR_MS = 3_600_000;

/** What it is of; of one that is not read yet what it is registered with. */
const mintOf = ({ tokenAccountMint, assetMint }: Local): string => tokenAccountMint ?? assetMint;

const localsOf = ({ venueAccounts }: CoinResponse): Local[] =>
  venueAccounts.filter((account) => account.kind === 'Local');

function without(sum: Figure, other: Local | undefined, told: string): Figure {
  // Why there is none the API knows better.
  if (other === undefined || sum.absent === true) return sum;
  const reason = `account ${other.tokenAccount} ${told}`;
  return { value: null, source: sum.source, asOf: null, absent: true, reason };
}

/**
 * A sum of now as far as it is in the quote asset: the API adds up what accounts hold of the quote or of the asset they are
 * registered with.
 */
function nowInQuote(coin: CoinResponse, sum: Figure): Figure {
  const other = localsOf(coin).find((account) => !account.revoked && mintOf(account) !== coin.quoteMint);
  return without(sum, other, 'holds another asset than the quote');
}

/**
 * The same of an hour that has passed, of which nobody kept what an account was of. One is believed to have been of the quote
 * where it is so now and was registered so. What is revoked by now may have been counted then.
 */
function thenInQuote(coin: CoinResponse, sum: Figure): Figure {
  const other = localsOf(coin).find((account) =>
    [account.assetMint, mintOf(account)].some((mint) => mint !== coin.quoteMint),
  );
  return without(sum, other, 'may have held another asset than the quote then');
}

/** What is held now, as far as it can be told in the quote asset. */
export const heldInQuote = (coin: CoinResponse, held: Held): Held => ({
  ...held,
  local: nowInQuote(coin, held.local),
});

/** The same of a moment of a policy's history, which ends with now where its last step is not over. */
export function pastInQuote<M extends { time: string; deployed: Figure }>(coin: CoinResponse, moment: M): M {
  const inQuote = Date.parse(moment.time) % HOUR_MS === 0 ? thenInQuote : nowInQuote;
  return { ...moment, deployed: inQuote(coin, moment.deployed) };
}
