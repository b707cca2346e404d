import type { VenueReadingRow } from '../../clickhouse/queries/status/venue-state.ts';
import { absent, figure } from '../../schemas/figure.ts';
import type { Position } from '../../schemas/responses/coin/positions.ts';
import { timeOfMillis } from '../../schemas/units.ts';
import { REMOTE_VENUES, venueOfClass } from '../../schemas/venues/remote.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { POLLER_SOURCE } from '../figures/sources.ts';
import { unreadReason } from '../figures/venue-readings.ts';

/** What the venue itself says of an account, or why nothing was read of it. */
export function pollerReading(
  assetClass: number,
  row: VenueReadingRow | undefined,
  settings: ReadSettings,
  now: number,
): Position['livePollerReading'] {
  const venue = venueOfClass(assetClass);
  if (venue === null) return absent(POLLER_SOURCE, `no venue is read for asset class ${assetClass}`);
  const { withoutEquity } = REMOTE_VENUES[venue];
  if (withoutEquity !== null) return absent(POLLER_SOURCE, withoutEquity);
  const at = row !== undefined && isLasting(row) ? Number(row.read_at) : now;
  const unread = unreadReason(venue, row?.read_at, settings, at);
  if (row === undefined || unread !== null) return absent(POLLER_SOURCE, unread ?? 'not polled yet');
  // The answer is not the account's equity, or no venue could be asked: that is no reading, as of OPTION accounts.
  if (row.equity === null && row.reason !== null) return absent(POLLER_SOURCE, row.reason);
  const asOf = timeOfMillis(row.venue_time);
  const why = row.error ?? 'the venue gave no number';
  const part = (value: string | null) =>
    value === null ? absent(POLLER_SOURCE, why) : figure(value, POLLER_SOURCE, asOf);
  return {
    reachable: row.reachable === 1,
    // A present reading may carry a reason too: that the venue gave no time.
    error: row.error ?? row.reason,
    equity: part(row.equity),
    notional: part(row.notional),
  };
}

/** Whether a reason never ages: the account names no address of its venue, so that no venue was asked. */
const isLasting = ({ reachable, reason }: VenueReadingRow) => reachable === 0 && reason !== null;
