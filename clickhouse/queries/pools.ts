import { sharedRows } from '../shared-reads.ts';

/** A launchpad pool with the curve of its config; exists 0: there is no account at the address. */
export interface PoolRow {
  address: string;
  exists: number;
  block_time: string | null;
  status: number;
  base_decimals: number;
  quote_decimals: number;
  supply: string;
  virtual_base: string;
  virtual_quote: string;
  real_base: string;
  real_quote: string;
  global_config: string;
  /** Null where the config was not read or no account is there. */
  curve_type: number | null;
}

/** The pools at these addresses that were read, by address. */
export const poolsAt = sharedRows<PoolRow>('address', (store, addresses) =>
  store.query(
    `SELECT p.address AS address, p.exists AS exists, p.block_time AS block_time, p.status AS status,
       p.base_decimals AS base_decimals, p.quote_decimals AS quote_decimals, p.supply AS supply,
       p.virtual_base AS virtual_base, p.virtual_quote AS virtual_quote,
       p.real_base AS real_base, p.real_quote AS real_quote, p.global_config AS global_config,
       if(c.found, c.curve_type, NULL) AS curve_type
     FROM (SELECT * FROM pools FINAL WHERE address IN {addresses:Array(String)}) AS p
     LEFT JOIN (
       SELECT address, curve_type, toUInt8(1) AS found FROM curve_configs FINAL WHERE exists = 1
     ) AS c ON c.address = p.global_config`,
    { addresses },
  ),
);
