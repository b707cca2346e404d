import { expect, test } from 'vitest';
import type { CoinResponse } from '../../schemas/responses/coin/coin.ts';
import type { CurrenciesResponse } from '../../schemas/responses/currencies.ts';
import type { RankingsResponse } from '../../schemas/responses/rankings.ts';
import type { QuotesResponse } from '../../schemas/responses/registries.ts';
import { SETTINGS } from './support/api.ts';
import { key, mintRow, policyRow } from './support/rows.ts';
import { useApi } from './support/use-api.ts';

const held = useApi(
  async (api) => {
    await api.insert('policies', [policyRow('coin', 'usd')]);
    await api.insert('mints', [mintRow('usd', 6)]);
  },
  { settings: { ...SETTINGS, polledVenues: [], pricesFrom: [] } },
);

test('what no source is configured for is absent, and the reason names the variable', async () => {
  const { body: quotes } = await held.api.get<QuotesResponse>('/quotes');
  expect(quotes).toMatchObject({ items: [], absent: true, reason: 'LAUNCHPAD_CATALOGUE_URL is not set' });
  const { body: currencies } = await held.api.get<CurrenciesResponse>('/venues/options_x/currencies');
  expect(currencies).toMatchObject({ items: [], absent: true, reason: 'OPTIONS_VENUE_URL is not set' });
  const { body: coin } = await held.api.get<CoinResponse>(`/coins/${key('coin')}`);
  const prices = 'LAUNCHPAD_CATALOGUE_URL is not set; PRICE_URL is not set';
  expect(coin.quote).toMatchObject({ priceUsd: null, priceAbsentReason: prices });
  const { body: rankings } = await held.api.get<RankingsResponse>('/rankings');
  expect(rankings.items[0]?.usd.profit.reason).toBe(`no USD price of the quote asset: ${prices}`);
});
