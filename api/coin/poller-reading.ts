import type { VenueReadingRow } from '../../clickhouse/queries/venue-state.ts';
import { absent, figure } from '../../schemas/figure.ts';
import type { Position } from '../../schemas/responses/positions.ts';
import { timeOfMillis } from '../../schemas/units.ts';
import { REMOTE_VENUES, urlVariable, venueOfClass } from '../../schemas/venues/remote.ts';
import { POLLER_SOURCE } from '../figures/sources.ts';

/** What the venue itself says of an account, or why nothing was read of it. */
export function pollerReading(
  assetClass: number,
  row: VenueReadingRow | undefined,
): Position['livePollerReading'] {
  const venue = venueOfClass(assetClass);
  if (venue === null) return absent(POLLER_SOURCE, `no venue is read for asset class ${assetClass}`);
  const { withoutEquity } = REMOTE_VENUES[venue];
  if (withoutEquity !== null) return absent(POLLER_SOURCE, withoutEquity);
  if (row === undefined) return absent(POLLER_SOURCE, `not polled yet, or ${urlVariable(venue)} is not set`);
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
