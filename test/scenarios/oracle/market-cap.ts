import type { Policy, Pool } from '../../../devnet/program/state/state.ts';
import { absent, anything, figure, near, readOf } from './expected.ts';
import type { View } from './view.ts';

const FUND = 0;

function poolOf({ chain, state }: View, policy: Policy): Pool | undefined {
  return state.pools.get(chain.addresses.pool(policy.mint, policy.quoteMint));
}

/** Price of a base unit as a fraction (venues.md §3); null off the curve, and where the curve is sold out. */
function priceOf(
  pool: Pool | null | undefined,
  curveAt: (config: string) => number | undefined,
): readonly [bigint, bigint] | null {
  if (pool === undefined || pool === null || pool.status !== FUND) return null;
  const { virtualBase, virtualQuote, realBase, realQuote } = pool;
  const type = curveAt(pool.globalConfig);
  if (type === 0) {
    return virtualBase > realBase ? [virtualQuote + realQuote, virtualBase - realBase] : null;
  }
  if (type === 1) return [virtualQuote, virtualBase];
  return type === 2 ? [virtualBase * realBase, 2n ** 64n] : null;
}

const curveNow = (view: View) => (config: string) => view.state.curves.get(config)?.curveType;

/** Quote base units, rounded down; null where absent. */
export function capOf(
  pool: Pool | null | undefined,
  curveAt: (config: string) => number | undefined,
): bigint | null {
  const price = priceOf(pool, curveAt);
  return pool === undefined || pool === null || price === null ? null : (pool.supply * price[0]) / price[1];
}

export function marketCapOf(view: View, policy: Policy): bigint | null {
  return capOf(poolOf(view, policy), curveNow(view));
}

/** The block of spec 2.3. */
export function marketCapBlock(view: View, policy: Policy): object {
  const { chain } = view;
  const pool = poolOf(view, policy);
  const price = priceOf(pool, curveNow(view));
  const cap = marketCapOf(view, policy);
  const written = pool === undefined ? [] : [pool.address, pool.globalConfig];
  const scale = pool === undefined ? 1 : 10 ** (pool.baseDecimals - pool.quoteDecimals);
  return {
    quote: cap === null ? absent('computed') : figure(cap, 'computed', readOf(view, written)),
    usd: view.polled ? anything : absent('computed'),
    priceQuotePerBase: price === null ? null : near((Number(price[0]) / Number(price[1])) * scale),
    pool: chain.addresses.pool(policy.mint, policy.quoteMint),
    poolStatus: pool?.status ?? null,
  };
}
