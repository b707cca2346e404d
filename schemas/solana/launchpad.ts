import { MalformedError } from '../malformed.ts';

/** The launchpad's pool: amounts in base units, keys raw. */
export interface Pool {
  /** 0 Fund, 1 Migrate, 2 Trade. */
  status: number;
  baseDecimals: number;
  quoteDecimals: number;
  supply: bigint;
  virtualBase: bigint;
  virtualQuote: bigint;
  realBase: bigint;
  realQuote: bigint;
  globalConfig: Uint8Array;
  baseMint: Uint8Array;
  quoteMint: Uint8Array;
}

const POOL = { discriminator: 'f7ede3f5d7c3de46', size: 429 };
const CURVE_CONFIG = { discriminator: '95089ccaa0fcb0d9', size: 371 };

function starts(data: Uint8Array, kind: { discriminator: string; size: number }): boolean {
  return data.length === kind.size && Buffer.from(data.subarray(0, 8)).toString('hex') === kind.discriminator;
}

/** Whether the launchpad's account is a pool. Other programs share the discriminator: check the owner too. */
export function isPool(data: Uint8Array): boolean {
  return starts(data, POOL);
}

export function isCurveConfig(data: Uint8Array): boolean {
  return starts(data, CURVE_CONFIG);
}

/** @throws MalformedError for another length or discriminator, or a status out of range. */
export function decodePool(data: Uint8Array): Pool {
  if (!isPool(data)) throw new MalformedError('pool', `${data.length} bytes that are no PoolState`);
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const u64 = (at: number) => view.getBigUint64(at, true);
  const key = (at: number) => data.subarray(at, at + 32);
  const status = data[17] as number;
  if (status > 2) throw new MalformedError('pool', `status ${status} is out of range`);
  return {
    status,
    baseDecimals: data[18] as number,
    quoteDecimals: data[19] as number,
    supply: u64(21),
    virtualBase: u64(37),
    virtualQuote: u64(45),
    realBase: u64(53),
    realQuote: u64(61),
    globalConfig: key(141),
    baseMint: key(205),
    quoteMint: key(237),
  };
}

/** The curve's kind: 0 constant product, 1 fixed price, 2 linear. @throws MalformedError */
export function decodeCurveConfig(data: Uint8Array): { curveType: number } {
  if (!isCurveConfig(data))
    throw new MalformedError('curve config', `${data.length} bytes that are no GlobalConfig`);
  const curveType = data[16] as number;
  if (curveType > 2) throw new MalformedError('curve config', `curve type ${curveType} is out of range`);
  return { curveType };
}

export type CurveState = Pick<
  Pool,
  'supply' | 'virtualBase' | 'virtualQuote' | 'realBase' | 'realQuote' | 'baseDecimals' | 'quoteDecimals'
>;

/** Price of one base unit in quote base units, as a fraction; null where the curve has no price (nothing left to sell). */
function curvePrice(pool: CurveState, curveType: number): { numerator: bigint; denominator: bigint } | null {
  const price =
    curveType === 0
      ? { numerator: pool.virtualQuote + pool.realQuote, denominator: pool.virtualBase - pool.realBase }
      : curveType === 1
        ? { numerator: pool.virtualQuote, denominator: pool.virtualBase }
        : { numerator: pool.virtualBase * pool.realBase, denominator: 1n << 64n };
  return price.denominator > 0n ? price : null;
}

export interface MarketCap {
  /** Quote base units, rounded down. */
  quote: bigint;
  /** Quote tokens for one whole base token. */
  priceQuotePerBase: number;
}

/** Curve price times the pool's supply; null where the curve has no price. */
export function marketCap(pool: CurveState, curveType: number): MarketCap | null {
  const price = curvePrice(pool, curveType);
  if (price === null) return null;
  const scale = pool.baseDecimals - pool.quoteDecimals;
  const numerator = price.numerator * 10n ** BigInt(Math.max(scale, 0));
  const denominator = price.denominator * 10n ** BigInt(Math.max(-scale, 0));
  return {
    quote: (pool.supply * price.numerator) / price.denominator,
    priceQuotePerBase: ratio(numerator, denominator),
  };
}

/** The fraction as a number, from enough digits that rounding happens once. */
function ratio(numerator: bigint, denominator: bigint): number {
  if (numerator === 0n) return 0;
  const shift = Math.max(0, 25 + denominator.toString().length - numerator.toString().length);
  const digits = (numerator * 10n ** BigInt(shift)) / denominator;
  return Number(`${digits}e-${shift}`);
}
