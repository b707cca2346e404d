import { absent, type Figure, figure } from '../../schemas/figure.ts';
import type { CurrenciesResponse } from '../../schemas/responses/currencies.ts';
import { timeOfMillis } from '../../schemas/units.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { POLLER_SOURCE } from '../figures/sources.ts';
import { agesAt, neverReadReason, unreadReason } from '../figures/venue-readings.ts';
import type { View } from '../latest/view.ts';

/**
 * `GET /venues/<options_venue>/currencies`: those with options, as last read; prices only while that is recent enough.
 */
export function currencyList(view: View, settings: ReadSettings): CurrenciesResponse {
  const envelope = { venue: settings.optionsVenueId, source: POLLER_SOURCE };
  const read = settings.polledVenues.includes('options') ? view.single('currencies') : null;
  if (read === null) {
    const reason = neverReadReason('options', view.single('venueStatuses'), settings);
    return { ...envelope, asOf: null, items: [], absent: true, reason };
  }
  const asOf = timeOfMillis(read.read_at);
  const unread = unreadReason('options', read.read_at, settings, view.now);
  view.expireAt(agesAt(Number(read.read_at), settings.readingMaxAgeMs, view.now));
  return {
    ...envelope,
    asOf,
    items: read.rows
      .filter((row) => row.has_options === 1)
      .map((row) => ({
        currency: row.currency,
        spotPrice: spotPrice(row, asOf, unread),
        hasOptions: true,
        hasPerps: row.has_perps === 1,
      })),
  };
}

function spotPrice(
  row: { currency: string; spot_price: string | null },
  asOf: string | null,
  unread: string | null,
): Figure {
  if (row.spot_price === null)
    return absent(POLLER_SOURCE, `the venue gave no spot price for ${row.currency} that can be read`);
  return unread === null
    ? figure(row.spot_price, POLLER_SOURCE, asOf)
    : { ...absent(POLLER_SOURCE, unread), asOf };
}
