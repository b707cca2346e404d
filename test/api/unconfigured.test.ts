import { expect, test } from 'vitest';
import type { CoinResponse } from '../../schemas/responses/coin/coin.ts';
import type { PositionsResponse } from '../../schemas/responses/coin/positions.ts';
import type { CurrenciesResponse } from '../../schemas/responses/currencies.ts';
import type { RankingsResponse } from '../../schemas/responses/rankings.ts';
import type { QuotesResponse } from '../../schemas/responses/registries.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { NOW, SETTINGS } from './support/api.ts';
import { key, mintRow, policyRow, venueAccountRow } from './support/rows.ts';
import { useApi } from './support/use-api.ts';

const held = useApi(
  async (api) => {
    await api.insert('policies', [policyRow('coin', 'usd')]);
    await api.insert('mints', [mintRow('usd', 6)]);
  },
  { settings: { ...SETTINGS, polledVenues: [], pricesFrom: [] } },
);

test('data without a configured source is absent, and the reason names the variable that is not set', async () => {
  const { body: quotes } = await held.api.get<QuotesResponse>('/quotes');
  expect(quotes).toMatchObject({ items: [], absent: true, reason: 'LAUNCHPAD_CATALOGUE_URL is not set' });
  const { body: currencies } = await held.api.get<CurrenciesResponse>('/venues/options_x/currencies');
  expect(currencies).toMatchObject({ items: [], absent: true, reason: 'OPTIONS_VENUE_URL is not set' });
  const { body: coin } = await held.api.get<CoinResponse>(`/coins/${key('coin')}`);
  const prices = 'LAUNCHPAD_CATALOGUE_URL is not set; PRICE_URL is not set';
  expect(coin.quote).toMatchObject({ priceUsd: null, priceAbsentReason: prices });
  const symbolAbsentReason =
    'the launch_x:/pairs catalogue is not read, for LAUNCHPAD_CATALOGUE_URL is not set; ' +
    'no symbol in chain:quote mint Token-2022 metadata';
  expect(coin.quote).toMatchObject({ symbol: null, symbolAbsentReason });
  const { body: rankings } = await held.api.get<RankingsResponse>('/rankings');
  expect(rankings.items[0]?.usd.profit.reason).toBe(`no USD price of the quote asset: ${prices}`);
});

test('stored readings of a venue that is no longer configured are served in neither positions nor status', async () => {
  const read_at = String(NOW - 1_000);
  await held.api.insert('venue_accounts', [venueAccountRow('coin', 'perp')]);
  await held.api.insert('account_readings', [
    {
      ...{
        venue_account: venueAccountRow('coin', 'perp').address,
        read_at,
        venue: 'perp',
        reachable: 1,
        error: null,
      },
      ...{ equity: '123', notional: '456', reason: null, venue_time: read_at },
    },
  ]);
  await held.api.insert('venue_status', [{ venue: 'perp', ok: 1, read_at, error: null }]);
  const { body } = await held.api.get<PositionsResponse>(`/coins/${key('coin')}/positions`);
  const absent = { absent: true, reason: 'PERP_VENUE_URL is not set' };
  expect(body.positions).toMatchObject([{ livePollerReading: absent }]);
  const { body: status } = await held.api.get<StatusResponse>('/status');
  expect(status.venues.perp_x).toMatchObject(absent);
});
