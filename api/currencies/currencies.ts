import { absent, figure } from '../../schemas/figure.ts';
import type { CurrenciesResponse } from '../../schemas/responses/currencies.ts';
import { timeOfMillis } from '../../schemas/units.ts';
import { POLLER_SOURCE } from '../figures/sources.ts';
import type { ReadSettings } from '../latest/read-deps.ts';
import type { View } from '../latest/view.ts';

/** `GET /venues/<options_venue>/currencies`: those that have options, as last read. */
export function currencyList(view: View, settings: ReadSettings): CurrenciesResponse {
  const envelope = { venue: settings.optionsVenueId, source: POLLER_SOURCE };
  const read = settings.polledVenues.includes('options') ? view.one('currencies') : null;
  if (read === null) {
    const reason = 'the options venue was not read yet, or OPTIONS_VENUE_URL is not set';
    return { ...envelope, asOf: null, items: [], absent: true, reason };
  }
  const asOf = timeOfMillis(read.read_at);
  return {
    ...envelope,
    asOf,
    items: read.rows
      .filter((row) => row.has_options === 1)
      .map((row) => ({
        currency: row.currency,
        spotPrice:
          row.spot_price === null
            ? absent(POLLER_SOURCE, `the venue gave no spot price for ${row.currency}`)
            : figure(row.spot_price, POLLER_SOURCE, asOf),
        hasOptions: true,
        hasPerps: row.has_perps === 1,
      })),
  };
}
