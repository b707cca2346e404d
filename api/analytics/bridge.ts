import type { BridgeRow } from '../../clickhouse/queries/analytics/bridge-flow.ts';
import type { MintRow } from '../../clickhouse/queries/states/mints.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import type { AnalyticsResponse } from '../../schemas/responses/analytics.ts';
import { timeOf } from '../../schemas/units.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { remoteVenues } from '../figures/asset-venues.ts';
import { NO_MINT } from '../figures/price.ts';
import { ATTESTED_SOURCE } from '../figures/sources.ts';
import { oldest } from '../figures/times.ts';
import { absentWhere } from '../figures/unknown-policies.ts';
import type { IndexState } from '../latest/index-state.ts';

const BRIDGED_SOURCE = 'chain:VenueAccount.bridged_out';

type Venue = AnalyticsResponse['bridgeFlow']['perVenue'][number];

/** What was sent to each venue beside what is claimed to be there; revoked accounts do not count. */
export function bridgePerVenue(
  rows: readonly BridgeRow[],
  settings: ReadSettings,
  assets: ReadonlyMap<string, MintRow>,
  { state, unlisted }: { state: IndexState; unlisted: string | null },
): Venue[] {
  return remoteVenues(settings).map(({ id, assetClass }) => {
    const row = rows.find((candidate) => candidate.asset_class === assetClass);
    const bridgedOut = figure(
      row?.bridged_out ?? '0',
      BRIDGED_SOURCE,
      row === undefined ? state.markerTime : timeOf(row.oldest_time),
    );
    const attestedEquity = attested(row, state);
    return {
      venue: id,
      accountCount: unlisted === null ? (row?.account_count ?? 0) : null,
      ...absentWhere(unlisted, {
        bridgedOut,
        attestedEquity,
        gap: gapOf(bridgedOut, attestedEquity, row?.asset_mints ?? [], assets),
      }),
    };
  });
}

function attested(row: BridgeRow | undefined, state: IndexState): Figure {
  if (row === undefined) return figure('0', ATTESTED_SOURCE, state.markerTime);
  if (row.unattested_count > 0) {
    const counts = `${row.unattested_count} of ${row.account_count}`;
    return absent(ATTESTED_SOURCE, `${counts} accounts have no attestation yet`);
  }
  return figure(row.attested, ATTESTED_SOURCE, timeOf(row.oldest_asof));
}

function gapOf(
  bridgedOut: Figure,
  attestedEquity: Figure,
  assetMints: readonly string[],
  assets: ReadonlyMap<string, MintRow>,
): Figure {
  if (attestedEquity.absent) return absent('computed', `attestedEquity is absent: ${attestedEquity.reason}`);
  if (assetMints.length > 1) {
    const decimals = assetMints
      .map((mint) => assets.get(mint))
      .map((row) => (row?.exists === 1 ? row.decimals : null));
    if (decimals.includes(null))
      return absent('computed', `the decimals of an asset of these accounts are not known: ${NO_MINT}`);
    if (new Set(decimals).size > 1) return absent('computed', 'the decimals of the summed assets differ');
  }
  const gap = BigInt(bridgedOut.value ?? 0) - BigInt(attestedEquity.value ?? 0);
  return figure(gap, 'computed', oldest([bridgedOut.asOf, attestedEquity.asOf]));
}
