import { protocolConfig } from '../../clickhouse/queries/protocol-config.ts';
import { type VenueAccountRow, venueAccountsOf } from '../../clickhouse/queries/venue-accounts.ts';
import { venueReadings } from '../../clickhouse/queries/venue-state.ts';
import type { Position, PositionsResponse } from '../../schemas/responses/positions.ts';
import { venueIdOfClass } from '../figures/asset-venues.ts';
import { secondsSince } from '../figures/times.ts';
import type { Coin } from './find.ts';
import { pollerReading } from './poller-reading.ts';
import { attestedEquity } from './venue-account.ts';

/** How far ahead of now the program lets an attestation be. */
const FUTURE_MAX_S = 120;

/** `GET /coins/:mint/positions`: Remote venue accounts that are not revoked. */
export async function positions({ mint, policy, store, context, deps }: Coin): Promise<PositionsResponse> {
  const [config, accounts] = await Promise.all([
    protocolConfig(store),
    venueAccountsOf(store, [policy.address]),
  ]);
  const remote = (accounts.get(policy.address) ?? []).filter(
    (row) => row.kind === 'Remote' && row.revoked === 0,
  );
  const readings = await venueReadings(
    store,
    remote.map((row) => row.token_account),
  );
  return {
    mint,
    positions: remote.map((row) => ({
      venueAccount: row.token_account,
      venueAccountPda: row.address,
      assetClass: row.asset_class,
      assetMint: row.asset_mint,
      venue: venueIdOfClass(deps.settings, row.asset_class),
      onChainAttestation: attestation(row, config?.max_remote_staleness ?? '0', context.now),
      livePollerReading: pollerReading(
        row.asset_class,
        readings.get(row.token_account),
        deps.settings,
        context.now,
      ),
    })),
  };
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
