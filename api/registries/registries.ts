import { hasCatalogue, quotePairs } from '../../clickhouse/queries/catalogue.ts';
import { models, origins } from '../../clickhouse/queries/registries.ts';
import type { ModelsResponse, OriginsResponse, QuotesResponse } from '../../schemas/responses/registries.ts';
import { timeOf } from '../../schemas/units.ts';
import { catalogueSource } from '../figures/quotes.ts';
import type { ReadDeps } from '../latest/read-deps.ts';

const QUOTES_MAX = 600;

/** `GET /origins` */
export async function originList(deps: ReadDeps): Promise<OriginsResponse> {
  const rows = await origins(deps.currentStore());
  return {
    source: 'chain:Origin accounts',
    items: rows.map((row) => ({
      id: row.id,
      pubkey: row.address,
      name: row.name,
      asset_class_mask: row.asset_class_mask,
      max_risk: row.max_risk,
    })),
  };
}

/** `GET /models` */
export async function modelList(deps: ReadDeps): Promise<ModelsResponse> {
  const rows = await models(deps.currentStore());
  return {
    source: 'chain:Model accounts',
    items: rows.map((row) => ({
      id: row.id,
      name: row.name,
      provider: row.provider,
      enabled: row.enabled === 1,
      registeredAt: timeOf(row.registered_at),
    })),
  };
}

/** `GET /quotes` */
export async function quoteList(deps: ReadDeps, search: string): Promise<QuotesResponse> {
  const store = deps.currentStore();
  const rows = await quotePairs(store, search, QUOTES_MAX);
  const items = rows.map((row) => ({
    mint: row.mint,
    symbol: row.symbol === '' ? null : row.symbol,
    name: row.name === '' ? null : row.name,
    decimals: row.decimals,
    category: row.category,
    launchable: row.launchable === 1,
    launchpadReady: row.launchpad_ready === 1,
    logoUrl: row.logo_url,
    policyCount: row.policy_count,
    startMarketCapUsd: row.start_market_cap_usd,
    graduationMarketCapUsd: row.graduation_market_cap_usd,
    graduationMultiple: row.graduation_multiple,
  }));
  const source = catalogueSource(deps.settings.launchpadVenueId);
  if (items.length > 0 || (await hasCatalogue(store))) return { source, items };
  return {
    source,
    items,
    absent: true,
    reason: 'the catalogue is not polled yet, or LAUNCHPAD_CATALOGUE_URL is not set',
  };
}
