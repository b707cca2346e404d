import type { QuotePairRow } from '../../clickhouse/queries/states/catalogue.ts';
import type { ModelsResponse, OriginsResponse, QuotesResponse } from '../../schemas/responses/registries.ts';
import { timeOf } from '../../schemas/units.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { catalogueSource } from '../figures/quotes.ts';
import { unknownPoliciesReason } from '../figures/unknown-policies.ts';
import { pageKey } from '../latest/kinds/kind.ts';
import { quoteTotalsIn } from '../latest/kinds/tallies/sums.ts';
import type { View } from '../latest/view.ts';

const QUOTES_MAX = 600;
/** A catalogue of fewer pairs is held in memory whole, and no search of it asks the store. */
const PAIRS_HELD = 2_000;

/** `GET /origins` */
export function originList(view: View): OriginsResponse {
  const rows = view.single('origins');
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
export function modelList(view: View): ModelsResponse {
  const rows = view.single('models');
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

/** The pairs whose symbol or name holds the text, those of most policies first. */
function pairsWith(view: View, search: string): readonly QuotePairRow[] {
  const all = view.get('cataloguePairs', pageKey(PAIRS_HELD));
  if (all.length >= PAIRS_HELD) return view.get('quotePairs', pageKey(search, QUOTES_MAX));
  const counts = new Map(quoteTotalsIn(view).map((row) => [row.quote_mint, row.policy_count]));
  const text = search.toLowerCase();
  return all
    .filter(({ symbol, name }) => symbol.toLowerCase().includes(text) || name.toLowerCase().includes(text))
    .map((pair) => ({ ...pair, policy_count: counts.get(pair.mint) ?? 0 }))
    .sort((one, other) => other.policy_count - one.policy_count)
    .slice(0, QUOTES_MAX);
}

/** `GET /quotes` */
export function quoteList(view: View, settings: ReadSettings, search: string): QuotesResponse {
  const isKnown = unknownPoliciesReason(view) === null;
  const items = pairsWith(view, search).map((row) => ({
    mint: row.mint,
    symbol: row.symbol === '' ? null : row.symbol,
    name: row.name === '' ? null : row.name,
    decimals: row.decimals,
    category: row.category,
    launchable: row.launchable === 1,
    launchpadReady: row.launchpad_ready === 1,
    logoUrl: row.logo_url,
    policyCount: isKnown ? row.policy_count : null,
    startMarketCapUsd: row.start_market_cap_usd,
    graduationMarketCapUsd: row.graduation_market_cap_usd,
    graduationMultiple: row.graduation_multiple,
  }));
  const source = catalogueSource(settings.launchpadVenueId);
  if (items.length > 0 || view.single('hasCatalogue')) return { source, items };
  const isSet = settings.pricesFrom.includes('catalogue');
  const reason = isSet ? 'the catalogue was not read yet' : 'LAUNCHPAD_CATALOGUE_URL is not set';
  return { source, items, absent: true, reason };
}
