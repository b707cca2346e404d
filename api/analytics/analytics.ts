import type { ProtocolConfigRow } from '../../clickhouse/queries/status/protocol-config.ts';
import type { AnalyticsResponse, ProtocolConfigView } from '../../schemas/responses/analytics.ts';
import { timeOf } from '../../schemas/units.ts';
import { quotesAt } from '../figures/quotes.ts';
import { CONFIG_SOURCE } from '../figures/sources.ts';
import { unlistedReason } from '../figures/unlisted.ts';
import { type Piece, piece } from '../http/answers/piece.ts';
import { printedHead, printedItem, printedList } from '../http/answers/printed.ts';
import type { RouteReply } from '../http/route.ts';
import { bridgeIn, quoteTotalsIn } from '../latest/kinds/tallies/sums.ts';
import type { ReadSettings } from '../latest/read-deps.ts';
import type { View } from '../latest/view.ts';
import { bridgePerVenue } from './bridge.ts';
import { revenueByDay } from './revenue.ts';
import { protocolTotals } from './totals.ts';

/** `GET /analytics`, as it is printed. */
export function analytics(view: View, settings: ReadSettings): RouteReply {
  const totals = quoteTotalsIn(view);
  const bridge = bridgeIn(view);
  const quotes = quotesAt(
    view,
    settings.launchpadVenueId,
    totals.map((row) => row.quote_mint),
  );
  const assets = view.rows('mint', [...new Set(bridge.flatMap((row) => row.asset_mints))]);
  const unlisted = unlistedReason(view);
  const head: Omit<AnalyticsResponse, 'revenueByDayTimeSeries'> = {
    protocolTotals: protocolTotals(totals, quotes, unlisted),
    protocolConfig: configView(view.one('config'), settings),
    bridgeFlow: { perVenue: bridgePerVenue(bridge, settings, assets, { state: view.state(), unlisted }) },
  };
  const body = Buffer.from(printedHead(head, 'revenueByDayTimeSeries'));
  return { status: 200, body, rest: revenue(view, settings) };
}

/** Years of days are printed again when one of them changes, not with every state of a policy. */
function revenue(view: View, settings: ReadSettings): Piece {
  return view.part('revenue', () => {
    const days = view.one('days');
    const mints = [...new Set(days.map((row) => row.quote_mint))].filter((mint) => mint !== '');
    const quotes = quotesAt(view, settings.launchpadVenueId, mints);
    const items = revenueByDay(days, quotes, view.state()).map(printedItem);
    return piece(printedList(items.join(',\n')));
  });
}

function configView(config: ProtocolConfigRow | null, settings: ReadSettings): ProtocolConfigView {
  return {
    paused: config === null ? null : config.paused === 1,
    protocolFeeBps: config?.protocol_fee_bps ?? null,
    maxBankrollBps: config?.max_bankroll_bps ?? null,
    maxRemoteStaleness: config?.max_remote_staleness ?? null,
    maxDeviationBps: config?.max_deviation_bps ?? null,
    minRiskForClass: config?.min_risk_for_class ?? null,
    launchpadProgram: config?.launchpad_program ?? settings.launchpadProgramId,
    ammProgram: config?.amm_program ?? settings.ammProgramId,
    source: CONFIG_SOURCE,
    asOf: timeOf(config?.block_time ?? null),
  };
}
