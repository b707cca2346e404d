import type { VenueAccountRow } from '../../clickhouse/queries/states/venue-accounts.ts';
import type { Position, PositionsResponse } from '../../schemas/responses/coin/positions.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { venueIdOfClass } from '../figures/asset-venues.ts';
import { nextSecond, secondsSince } from '../figures/times.ts';
import { agesAt } from '../figures/venue-readings.ts';
import type { View } from '../latest/view.ts';
import type { Coin } from './find.ts';
import { pollerReading } from './poller-reading.ts';
import { attestedEquity } from './venue-account.ts';

/** How far ahead of now the program lets an attestation be. */
const FUTURE_MAX_S = 120;

/** `GET /coins/:mint/positions`: Remote venue accounts that are not revoked. */
export function positions({ mint, policy, view, settings }: Coin): PositionsResponse {
  const config = view.single('config');
  const remote = view
    .get('venueAccounts', policy.address)
    .filter((row) => row.kind === 'Remote' && row.revoked === 0);
  // The ages in the answer change every second.
  if (remote.length > 0) view.expireAt(nextSecond(view.now));
  return {
    mint,
    positions: remote.map((row) => ({
      venueAccount: row.token_account,
      venueAccountPda: row.address,
      assetClass: row.asset_class,
      assetMint: row.asset_mint,
      venue: venueIdOfClass(settings, row.asset_class),
      onChainAttestation: attestation(row, config?.max_remote_staleness ?? '0', view.now),
      livePollerReading: pollerReading(
        row.asset_class,
        readingOf(row.address, view, settings),
        settings,
        view.now,
      ),
    })),
  };
}

/** The newest reading of an account; limits the view to the moment at which that reading becomes too old. */
function readingOf(venueAccount: string, view: View, { readingMaxAgeMs }: ReadSettings) {
  const reading = view.get('venueReading', venueAccount);
  if (reading !== undefined) view.expireAt(agesAt(Number(reading.read_at), readingMaxAgeMs, view.now));
  return reading;
}

function attestation(
  row: VenueAccountRow,
  maxStaleness: string,
  now: number,
): Position['onChainAttestation'] {
  const equity = attestedEquity(row);
  if (equity.absent) return { equity, ageSeconds: null, stale: null };
  const ageSeconds = secondsSince(row.remote_asof, now);
  const configured = maxStaleness !== '0';
  const stale = configured ? ageSeconds > Number(maxStaleness) || ageSeconds < -FUTURE_MAX_S : null;
  return { equity, ageSeconds, stale };
}
