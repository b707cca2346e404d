import type { VenueReadingRow } from '../../clickhouse/queries/venue-state.ts';
import { absent, figure } from '../../schemas/figure.ts';
import type { Position } from '../../schemas/responses/positions.ts';
import { timeOfMillis } from '../../schemas/units.ts';
import { OPTION_CLASS, PERP_CLASS } from '../figures/asset-venues.ts';

export const POLLER_SOURCE = 'venue poller';

/** What the venue itself says of an account, or why nothing was read of it. */
export function pollerReading(
  assetClass: number,
  row: VenueReadingRow | undefined,
): Position['livePollerReading'] {
  if (assetClass === OPTION_CLASS) {
    return absent(POLLER_SOURCE, 'the options venue publishes no account equity');
  }
  if (assetClass !== PERP_CLASS)
    return absent(POLLER_SOURCE, `no venue is read for asset class ${assetClass}`);
  if (row === undefined) return absent(POLLER_SOURCE, 'not polled yet, or PERP_VENUE_URL is not set');
  const asOf = timeOfMillis(row.venue_time);
  const why = row.reason ?? row.error ?? 'the venue gave no number';
  const part = (value: string | null) =>
    value === null ? absent(POLLER_SOURCE, why) : figure(value, POLLER_SOURCE, asOf);
  return {
    reachable: row.reachable === 1,
    // A present reading may carry a reason too: that the venue gave no time.
    error: row.error ?? (row.equity === null ? null : row.reason),
    equity: part(row.equity),
    notional: part(row.notional),
  };
}
