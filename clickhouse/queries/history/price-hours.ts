import type { Store } from '../../client.ts';
import type { PriceRow } from '../states/prices.ts';

/** The last reading of a source in an hour by our clock. */
export type PriceHour = PriceRow & { hour: number };

export function priceHours(store: Store, mint: string, from: number, to: number): Promise<PriceHour[]> {
  return store.query(
    `SELECT mint, source, hour, read_at, usd, observed_at FROM price_hours FINAL
     WHERE mint = {mint:String} AND hour + 1 >= {from:UInt32} AND hour < {to:UInt32}
     ORDER BY hour`,
    { mint, from, to },
  );
}
