import type { Store } from '../client.ts';

export interface PriceRow {
  mint: string;
  source: 'catalogue' | 'second';
  /** Unix milliseconds of our clock. */
  read_at: string;
  usd: string | null;
  observed_at: string | null;
}

/** The newest reading of each source for these mints. */
export async function pricesOf(store: Store, mints: readonly string[]): Promise<PriceRow[]> {
  if (mints.length === 0) return [];
  return store.query<PriceRow>(
    `SELECT mint, source, read_at, usd, observed_at
     FROM prices FINAL
     WHERE mint IN {mints:Array(String)}`,
    { mints: [...mints] },
  );
}
