import type { RemoteVenue } from '../../../schemas/venues/remote.ts';
import type { Store } from '../../client.ts';
import { inOrder, keyWithin } from '../../in-order.ts';
import { sharedRows } from '../../shared-reads.ts';

export interface VenueReadingRow {
  venue_account: string;
  venue: string;
  /** Milliseconds of our clock. */
  read_at: string;
  reachable: number;
  error: string | null;
  equity: string | null;
  notional: string | null;
  reason: string | null;
  /** Milliseconds of the venue's clock. */
  venue_time: string | null;
}

const READING = 'venue_account, venue, read_at, reachable, error, equity, notional, reason, venue_time';

/** The newest reading of each of these Remote venue accounts. */
export const venueReadings = sharedRows<VenueReadingRow>('venue_account', (store, venueAccounts) =>
  store.query(
    `SELECT ${READING}
     FROM account_readings FINAL
     WHERE venue_account IN {venueAccounts:Array(String)}`,
    { venueAccounts },
  ),
);

export const venueReadingsInOrder = inOrder(
  `SELECT venue_account AS key, ${READING}
   FROM account_readings FINAL
   WHERE ${keyWithin('venue_account')}
   ORDER BY venue_account
   LIMIT {most:UInt32}`,
);

export interface VenueStatusRow {
  venue: RemoteVenue;
  ok: number;
  read_at: string;
  error: string | null;
}

/** The newest successful and the newest failed reading of each venue. */
export async function venueStatuses(store: Store): Promise<VenueStatusRow[]> {
  return store.query<VenueStatusRow>('SELECT venue, ok, read_at, error FROM venue_status FINAL', {});
}

export interface ProgramStatusRow {
  program: 'launchpad' | 'amm';
  address: string;
  /** Milliseconds of our clock. */
  read_at: string;
  exists: number;
  error: string | null;
}

/** Whether the accounts of the launchpad's and the AMM's programs were found. */
export async function programStatuses(store: Store): Promise<ProgramStatusRow[]> {
  return store.query<ProgramStatusRow>(
    'SELECT program, address, read_at, exists, error FROM program_status FINAL',
    {},
  );
}

/** Unix seconds of the newest attestation of a Remote account of each asset class that has one. */
export async function newestAttestations(
  store: Store,
): Promise<{ asset_class: number; remote_asof: string }[]> {
  return store.query(
    `SELECT asset_class, max(v.remote_asof) AS remote_asof
     FROM venue_accounts AS v FINAL
     WHERE exists = 1 AND revoked = 0 AND kind = 'Remote' AND v.remote_asof != 0
     GROUP BY asset_class`,
    {},
  );
}

export interface CurrenciesRow {
  read_at: string;
  rows: { currency: string; spot_price: string | null; has_options: number; has_perps: number }[];
}

/** The options venue's newest list of currencies; null where it was never read. */
export async function currencies(store: Store): Promise<CurrenciesRow | null> {
  const [row] = await store.query<CurrenciesRow>('SELECT read_at, rows FROM currencies FINAL LIMIT 1', {});
  return row ?? null;
}
