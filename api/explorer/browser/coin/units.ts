import type { CoinResponse } from '../../../../schemas/responses/coin/coin.ts';
import type { Reading } from '../parts/figure.ts';
import type { Unit } from '../text/amounts.ts';
import type { Units } from '../text/events.ts';
import { symbolOf } from '../text/words.ts';

/** The units of a policy's amounts: its quote asset and its own token; `unitOf` knows no decimals of other assets. */
export function unitsOf(coin: CoinResponse): Units {
  const own = coin.pdaBalances.find(({ kind }) => kind === 'base_escrow');
  return {
    quote: {
      decimals: coin.quote.decimals,
      symbol: symbolOf(coin.quote.symbol, coin.quoteMint),
      mint: coin.quoteMint,
    },
    base: { decimals: own?.decimals ?? null, symbol: symbolOf(coin.symbol, coin.mint), mint: coin.mint },
  };
}

export function unitOf(coin: CoinResponse, mint: string): Unit {
  const units = unitsOf(coin);
  if (mint === coin.quoteMint) return units.quote;
  return mint === coin.mint ? units.base : { decimals: null, symbol: null, mint };
}

export const inUnit = (unit: Unit): Reading => ({ kind: 'amount', unit });
