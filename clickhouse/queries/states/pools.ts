import type { CurveState } from '../../../schemas/solana/launchpad.ts';
import { inOrder, keyWithin } from '../../in-order.ts';
import { sharedRows } from '../../shared-reads.ts';
import { type LatestColumns, type ReadState, readColumns } from '../../tables.ts';

export const POOL_COLUMNS = readColumns('pools', [
  'address',
  'exists',
  'block_time',
  'status',
  'base_decimals',
  'quote_decimals',
  'supply',
  'virtual_base',
  'virtual_quote',
  'real_base',
  'real_quote',
  'global_config',
]);

/** A launchpad pool with the curve of its config; exists 0: there is no account at the address. */
export type PoolRow = Pick<ReadState<'pools'>, (typeof POOL_COLUMNS)[number]> & {
  /** Null where the config was not read or no account is there. */
  [Column in keyof LatestColumns['curve_configs']]: LatestColumns['curve_configs'][Column] | null;
};

/** The amounts that a pool's price and cap are made of. */
export const curveStateOf = (row: PoolRow): CurveState => ({
  supply: BigInt(row.supply),
  virtualBase: BigInt(row.virtual_base),
  virtualQuote: BigInt(row.virtual_quote),
  realBase: BigInt(row.real_base),
  realQuote: BigInt(row.real_quote),
  baseDecimals: row.base_decimals,
  quoteDecimals: row.quote_decimals,
});

/** @param pools a condition on the pools */
const poolsOf = (pools: string, key = ''): string =>
  `SELECT ${key}${POOL_COLUMNS.map((name) => `p.${name} AS ${name}`).join(', ')},
     if(c.found, c.curve_type, NULL) AS curve_type
   FROM (SELECT * FROM pools FINAL WHERE ${pools}) AS p
   LEFT JOIN (
     SELECT address, curve_type, toUInt8(1) AS found FROM curve_configs FINAL WHERE exists = 1
   ) AS c ON c.address = p.global_config`;

/** The pools at these addresses that were read, by address. */
export const poolsAt = sharedRows<PoolRow>('address', (store, addresses) =>
  store.query(poolsOf('address IN {addresses:Array(String)}'), { addresses }),
);

export const poolsInOrder = inOrder(
  `${poolsOf(`${keyWithin('address')} ORDER BY address LIMIT {most:UInt32}`, 'p.address AS key, ')}
   ORDER BY p.address`,
);
