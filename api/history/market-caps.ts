import type { PriceHour } from '../../clickhouse/queries/history/price-hours.ts';
import { absent } from '../../schemas/figure.ts';
import type { CoinHistoryItem } from '../../schemas/responses/history.ts';
import { HOUR_MS } from '../../schemas/units.ts';
import { marketCapOf } from '../figures/market-cap.ts';
import { inDollars, priceOf } from '../figures/price.ts';
import type { States } from './states.ts';

export interface MarketCapDeps {
  states: States;
  /** By the hour that they were read in. */
  prices: ReadonlyMap<number, readonly PriceHour[]>;
  pool: string;
  decimals: number | null;
}

/** The market cap at the end of an hour, at the price that was read in that hour. */
export function marketCapAt(
  { states, prices, pool, decimals }: MarketCapDeps,
  end: number,
): CoinHistoryItem['marketCap'] {
  const price = priceOf(prices.get(end - 1) ?? [], end * HOUR_MS);
  const { row, reason } = states.at(pool, end);
  const absentFor = (why: string) => {
    const quote = absent('computed', why);
    return { quote, usd: inDollars(quote, 'marketCap.quote', { decimals, price }) };
  };
  if (row === null) return absentFor(reason);
  // Off the curve no config is needed.
  const config = row.exists === 1 && row.status === 0 ? states.at(row.global_config, end) : null;
  if (config?.row === null) return absentFor(config.reason);
  const curve_type = config?.row.exists === 1 ? config.row.curve_type : null;
  const { quote, usd } = marketCapOf(pool, { ...row, curve_type }, { decimals, price });
  return { quote, usd };
}
