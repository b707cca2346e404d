import { expect } from 'vitest';
import { compareActivity, type Extent, type Get, inParallel, type Json } from './compare.ts';
import { activityItems } from './oracle/activity.ts';
import { days } from './oracle/days.ts';
import { fees, loop } from './oracle/money.ts';
import { rankingRow } from './oracle/rankings.ts';
import type { View } from './oracle/view.ts';

/**
 * Compares with the oracle the figures that are made of events alone. An index that says that it is at the tip and
 * complete has all events, and accounts that it has yet to read do not matter to these figures.
 */
export async function compareSums(
  get: Get,
  view: View,
  { includes = () => true }: Extent = {},
): Promise<void> {
  const { revenueByDayTimeSeries: served } = await get('/analytics');
  expect((served as Day[]).map(sumsOfDay), 'days of /analytics').toStrictEqual(
    (days(view) as Day[]).map(sumsOfDay),
  );
  const rows = new Map((await rankingRows(get)).map((row) => [row.mint, row]));
  for (const policy of view.policies.filter(({ mint }) => rows.has(mint))) {
    const { fees: wanted } = rankingRow(view, policy) as Json;
    expect(rows.get(policy.mint)?.fees, `fees of ${policy.mint} in /rankings`).toStrictEqual(wanted);
  }
  const coins = view.policies.filter(({ mint }, at) => includes(at) && rows.has(mint));
  await inParallel(coins, async (policy) => {
    const { mint } = policy;
    const [servedFees, servedLoop] = [await get(`/coins/${mint}/fees`), await get(`/coins/${mint}/loop`)];
    expect(sumsOfFees(servedFees), `/coins/${mint}/fees`).toStrictEqual(
      sumsOfFees(fees(view, policy) as Json),
    );
    expect(sumsOfLoop(servedLoop), `/coins/${mint}/loop`).toStrictEqual(
      sumsOfLoop(loop(view, policy) as Json),
    );
    await compareActivity(get, mint, activityItems(view.eventsOf(mint)), false);
  });
}

async function rankingRows(get: Get): Promise<Json[]> {
  const rows: Json[] = [];
  for (;;) {
    const { items, hasMore } = await get(`/rankings?sort=newest&limit=200&offset=${rows.length}`);
    rows.push(...(items as Json[]));
    if (hasMore !== true) return rows;
  }
}

type Day = Json & { byQuote: Json[] };

/** A day without `decimals`, which come from an account. */
function sumsOfDay({ byQuote, ...day }: Day): object {
  const sums = byQuote.map(({ decimals: _, ...row }) => row);
  return { ...day, byQuote: sums.toSorted((a, b) => (String(a.quoteMint) < String(b.quoteMint) ? -1 : 1)) };
}

function sumsOfFees({ quoteLeg, baseLeg, claimCount, recentClaims }: Json): object {
  const { lifetime: _, ...ofEvents } = quoteLeg as Json;
  return { quoteLeg: ofEvents, baseLeg, claimCount, recentClaims };
}

function sumsOfLoop({ step1_feesClaimed, step2_routed, step5_profit, step6_buyback }: Json): object {
  const { toHoldersStaged, toLpFromProfit } = step5_profit as Json;
  return { step1_feesClaimed, step2_routed, toHoldersStaged, toLpFromProfit, step6_buyback };
}
