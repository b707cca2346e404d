import { sharedLookup } from '../../shared-reads.ts';

export interface PriceRow {
  mint: string;
  source: 'catalogue' | 'second';
  /** Unix milliseconds of our clock. */
  read_at: string;
  usd: string | null;
  observed_at: string | null;
}

/** The newest reading of each source for these mints. */
export const pricesOf = sharedLookup<PriceRow>('mint', (store, mints) =>
  store.query(
    `SELECT mint, source, read_at, usd, observed_at
     FROM prices FINAL
     WHERE mint IN {mints:Array(String)}`,
    { mints },
  ),
);
