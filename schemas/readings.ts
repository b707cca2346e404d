import type { StreamState } from './stream-state.ts';
import type { RemoteVenue } from './venues/remote.ts';

/** What was read of the outside world. Numbers from outside are decimal strings; times are milliseconds of the venue's clock, or null. */
export type Reading =
  | {
      type: 'venue_account';
      /** Address of the Remote venue account, base58. */
      venueAccount: string;
      venue: RemoteVenue;
      /** Both are null where they are absent, for `reason`; notional alone is where the venue does not tell it. */
      equity: string | null;
      notional: string | null;
      reason: string | null;
      /** Whether the venue answered; `error` says what happened where it did not. */
      reachable: boolean;
      error: string | null;
      venueTime: number | null;
    }
  | ({ type: 'stream' } & StreamState)
  | { type: 'venue_status'; venue: RemoteVenue; ok: boolean; error: string | null }
  | {
      type: 'program_status';
      program: 'launchpad' | 'amm';
      address: string;
      exists: boolean;
      error: string | null;
    }
  | { type: 'catalogue'; rows: CatalogueRow[] }
  | {
      type: 'price';
      mint: string;
      source: 'catalogue' | 'second';
      /** Shortest text of the number the source gave; null where it has none. */
      usd: string | null;
      /** ISO 8601, or null where the source gives no time. */
      observedAt: string | null;
      startMarketCapUsd: number | null;
      graduationMarketCapUsd: number | null;
      graduationMultiple: number | null;
    }
  | { type: 'metadata'; mint: string; uri: string; imageUrl: string | null; error: string | null }
  | { type: 'currencies'; items: CurrencyRow[] };

export interface CatalogueRow {
  mint: string;
  symbol: string;
  name: string;
  decimals: number;
  category: string;
  launchable: boolean;
  launchpadReady: boolean;
  /** Absolute, or null. */
  logoUrl: string | null;
}

export interface CurrencyRow {
  currency: string;
  spotPrice: string | null;
  hasOptions: boolean;
  hasPerps: boolean;
}
