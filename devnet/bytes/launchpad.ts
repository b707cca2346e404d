import { bytesOf, seededKey } from '../program/state/keys.ts';
import type { CurveConfig, Pool } from '../program/state/state.ts';

const POOL_SIZE = 429;
const CONFIG_SIZE = 371;
const POOL_DISCRIMINATOR = Buffer.from('f7ede3f5d7c3de46', 'hex');
const CONFIG_DISCRIMINATOR = Buffer.from('95089ccaa0fcb0d9', 'hex');
const EPOCH = 985n;

/** The launchpad's PoolState, at the offsets of its public layout. */
export function poolData(pool: Pool): Uint8Array {
  const data = Buffer.alloc(POOL_SIZE);
  data.set(POOL_DISCRIMINATOR, 0);
  data.writeBigUInt64LE(EPOCH, 8);
  data.writeUInt8(254, 16);
  data.writeUInt8(pool.status, 17);
  data.writeUInt8(pool.baseDecimals, 18);
  data.writeUInt8(pool.quoteDecimals, 19);
  data.writeUInt8(1, 20);
  const amounts = [
    pool.supply,
    pool.totalBaseSell,
    pool.virtualBase,
    pool.virtualQuote,
    pool.realBase,
    pool.realQuote,
    pool.totalQuoteFundRaising,
  ];
  for (const [at, amount] of amounts.entries()) data.writeBigUInt64LE(amount, 21 + at * 8);
  const keys = [
    pool.globalConfig,
    seededKey('platform-config'),
    pool.baseMint,
    pool.quoteMint,
    seededKey(`base-vault:${pool.address}`),
    seededKey(`pool-vault:${pool.address}`),
    pool.creator,
  ];
  for (const [at, key] of keys.entries()) data.set(bytesOf(key), 141 + at * 32);
  return new Uint8Array(data);
}

/** The launchpad's GlobalConfig, of which only the curve type and the quote mint matter here. */
export function curveConfigData(config: CurveConfig): Uint8Array {
  const data = Buffer.alloc(CONFIG_SIZE);
  data.set(CONFIG_DISCRIMINATOR, 0);
  data.writeBigUInt64LE(EPOCH, 8);
  data.writeUInt8(config.curveType, 16);
  data.set(bytesOf(config.quoteMint), 83);
  return new Uint8Array(data);
}
