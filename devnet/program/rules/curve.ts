import type { Pool } from '../state/state.ts';

type Curve = Pick<Pool, 'virtualBase' | 'virtualQuote' | 'realBase' | 'realQuote'>;

interface CurveMaths {
  /** Base units that `quoteIn` buys. */
  buy(pool: Curve, quoteIn: bigint): bigint;
  /** Quote units that `baseIn` sells for. */
  sell(pool: Curve, baseIn: bigint): bigint;
}

/** The smaller of two amounts. */
export function lesser(left: bigint, right: bigint): bigint {
  if (left < right) return left;
  return right;
}

/** Integer square root, rounded down. */
function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = BigInt(Math.floor(Math.sqrt(Number(value))));
  while (root * root > value) root -= 1n;
  while ((root + 1n) * (root + 1n) <= value) root += 1n;
  return root;
}

/** A linear curve holds slope × base² / 2^65 of quote: the integral of a price of slope × base / 2^64. */
const LINEAR_SHIFT = 65n;

/** By `curve_type` of the launchpad's global config. */
const CURVES: readonly CurveMaths[] = [
  {
    buy: (pool, quoteIn) =>
      ((pool.virtualBase - pool.realBase) * quoteIn) / (pool.virtualQuote + pool.realQuote + quoteIn),
    sell: (pool, baseIn) =>
      ((pool.virtualQuote + pool.realQuote) * baseIn) / (pool.virtualBase - pool.realBase + baseIn),
  },
  {
    buy: (pool, quoteIn) => (quoteIn * pool.virtualBase) / pool.virtualQuote,
    sell: (pool, baseIn) => (baseIn * pool.virtualQuote) / pool.virtualBase,
  },
  {
    buy: (pool, quoteIn) => {
      const base = squareRoot(((pool.realQuote + quoteIn) << LINEAR_SHIFT) / pool.virtualBase);
      return base > pool.realBase ? base - pool.realBase : 0n;
    },
    sell: (pool, baseIn) => {
      const left = pool.realBase - baseIn;
      const kept = (pool.virtualBase * left * left) >> LINEAR_SHIFT;
      return pool.realQuote > kept ? pool.realQuote - kept : 0n;
    },
  },
];

export function curveMaths(curveType: number): CurveMaths {
  const maths = CURVES[curveType];
  if (maths === undefined) throw new RangeError(`no curve of type ${curveType}`);
  return maths;
}

/** Reserves of a pool that sells most of `supply` for about `raise` quote units. */
export function openingReserves(
  curveType: number,
  supply: bigint,
  raise: bigint,
): Pick<Pool, 'virtualBase' | 'virtualQuote' | 'totalBaseSell' | 'totalQuoteFundRaising'> {
  const totalBaseSell = (supply * 7931n) / 10_000n;
  const totals = { totalBaseSell, totalQuoteFundRaising: raise };
  if (curveType === 1) return { ...totals, virtualBase: totalBaseSell, virtualQuote: raise };
  if (curveType === 2) {
    const slope = (raise << LINEAR_SHIFT) / (totalBaseSell * totalBaseSell);
    return { ...totals, virtualBase: slope > 0n ? slope : 1n, virtualQuote: 0n };
  }
  return { ...totals, virtualBase: (supply * 10_730n) / 10_000n, virtualQuote: (raise * 30n) / 85n };
}
