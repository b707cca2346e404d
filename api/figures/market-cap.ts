import { curveStateOf, type PoolRow } from '../../clickhouse/queries/states/pools.ts';
import { createLru } from '../../runtime/lru.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import type { MarketCap } from '../../schemas/responses/coin/coin.ts';
import { decodeKey, encodeBase58 } from '../../schemas/solana/base58.ts';
import { marketCap as curveCap } from '../../schemas/solana/launchpad.ts';
import { poolAddress } from '../../schemas/solana/pda.ts';
import { timeOf } from '../../schemas/units.ts';
import { inDollars, type Price } from './price.ts';

/** The address of the launchpad's pool of a pair, base58, whether or not an account exists there. */
export function poolOf(launchpad: string, mint: string, quoteMint: string): string {
  const pair = `${launchpad} ${mint} ${quoteMint}`;
  const known = pools.get(pair);
  if (known !== undefined) return known;
  const pool = encodeBase58(poolAddress(keyOf(launchpad), keyOf(mint), keyOf(quoteMint)));
  pools.set(pair, pool);
  return pool;
}

/** Pool addresses: deriving one costs more than all else of a row. */
const pools = createLru<string>(50_000);

function keyOf(text: string): Uint8Array {
  const key = decodeKey(text);
  if (key === null) throw new TypeError(`no public key: ${text}`);
  return key;
}

/** Curve price times the pool's supply, only while the pool is on its curve; each part absent for its own reason. */
export function marketCapOf(
  pool: string,
  row: PoolRow | undefined,
  quote: { decimals: number | null; price: Price },
): MarketCap {
  const cap = capOf(pool, row);
  return {
    quote: cap.figure,
    usd: inDollars(cap.figure, 'marketCap.quote', quote),
    priceQuotePerBase: cap.price,
    pool,
    poolStatus: row !== undefined && row.exists === 1 ? row.status : null,
  };
}

function capOf(pool: string, row: PoolRow | undefined): { figure: Figure; price: number | null } {
  const none = (reason: string) => ({ figure: absent('computed', reason), price: null });
  if (row === undefined) return none(`the pool is not read yet: ${pool}`);
  if (row.exists === 0) return none(`no account at ${pool}`);
  if (row.status !== 0) {
    return none(
      `the pool is at status ${row.status}, off the curve: reading a graduated pool is not implemented`,
    );
  }
  if (row.curve_type === null) return none(`the curve's config is not read yet: ${row.global_config}`);
  const cap = curveCap(curveStateOf(row), row.curve_type);
  if (cap === null) return none('the curve has no price: its reserve is empty');
  return { figure: figure(cap.quote, 'computed', timeOf(row.block_time)), price: cap.priceQuotePerBase };
}
