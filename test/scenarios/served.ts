import type { Policy } from '../../devnet/program/state.ts';

type Json = Record<string, unknown>;

export type Get = (path: string) => Promise<Json>;

const figureValue = (figure: unknown) => (figure as { value: unknown }).value;
const at = (body: Json, path: string): unknown =>
  path.split('.').reduce<unknown>((part, name) => (part as Json)[name], body);

/** What the routes serve of a policy, under the oracle's names. */
export async function servedValues(
  get: Get,
  policy: Policy,
  ranking: Json,
): Promise<Record<string, unknown>> {
  const base = `/coins/${policy.mint}`;
  const [coin, fees, loop] = await Promise.all([get(base), get(`${base}/fees`), get(`${base}/loop`)]);
  const served: Record<string, unknown> = {};
  const figures = (name: string, body: Json, paths: string[]) => {
    for (const path of paths) served[`${name}.${path}`] = figureValue(at(body, path));
  };
  const plain = (paths: string[]) => {
    for (const path of paths) served[`coin.${path}`] = at(coin, path);
  };
  figures('coin', coin, [...Object.keys(coin.counters as Json).map((name) => `counters.${name}`), 'hwm']);
  plain([
    'paused',
    'locked',
    'moneyPathsFrozen',
    'risk',
    'feeSplit.toBankrollBps',
    'profitSplit.toHoldersBps',
  ]);
  for (const entry of coin.pdaBalances as Json[])
    served[`balance.${entry.kind}`] = figureValue(entry.balance);
  served['marketCap.quote'] = figureValue(at(coin, 'marketCap.quote'));
  figures('fees', fees, [
    'quoteLeg.lifetime',
    'quoteLeg.lifetimeFromEvents',
    'quoteLeg.last24h',
    'baseLeg.lifetime',
  ]);
  served['fees.claimCount'] = fees.claimCount;
  figures('loop', loop, [
    'step2_routed.protocolCut',
    'step2_routed.toLp',
    'step2_routed.toBankroll',
    'step5_profit.toHoldersStaged',
    'step5_profit.toLpFromProfit',
    'step6_buyback.spent',
    'step6_buyback.burned',
  ]);
  served['ranking.fees'] = figureValue(ranking.fees);
  served['ranking.eventsLast24h'] = figureValue(ranking.eventsLast24h);
  served.venues = (coin.venueAccounts as Json[])
    .map((venue) => ({
      tokenAccount: venue.tokenAccount as string,
      kind: venue.kind,
      assetClass: venue.assetClass,
      revoked: venue.revoked,
      value: figureValue(venue.local ?? venue.remote),
      bridgedOut: venue.bridgedOut === undefined ? null : figureValue(venue.bridgedOut),
    }))
    .sort((a, b) => (a.tokenAccount < b.tokenAccount ? -1 : 1));
  served.activity = await allActivity(get, base);
  return served;
}

async function allActivity(get: Get, base: string): Promise<unknown[]> {
  const items: unknown[] = [];
  for (;;) {
    const page = await get(`${base}/activity?limit=200&offset=${items.length}`);
    items.push(...(page.items as unknown[]));
    if ((page.items as unknown[]).length < 200) return items;
  }
}

/** Every row of the rankings, by mint. */
export async function allRankings(get: Get): Promise<Map<string, Json>> {
  const rows = new Map<string, Json>();
  for (let offset = 0; ; offset += 200) {
    const page = await get(`/rankings?sort=newest&limit=200&offset=${offset}`);
    for (const row of page.items as Json[]) rows.set(row.mint as string, row);
    if (page.hasMore !== true) return rows;
  }
}

export async function servedDays(get: Get): Promise<Record<string, unknown>[]> {
  const analytics = await get('/analytics');
  return (analytics.revenueByDayTimeSeries as Json[]).map(({ day, byQuote: _, ...figures }) => ({
    day,
    ...Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, figureValue(figure)])),
  }));
}
