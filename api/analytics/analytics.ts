import type { ProtocolConfigRow } from '../../clickhouse/queries/status/protocol-config.ts';
import type { AnalyticsResponse, ProtocolConfigView } from '../../schemas/responses/analytics.ts';
import { timeOf } from '../../schemas/units.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { quoteNameAt, quotesAt } from '../figures/quotes.ts';
import { CONFIG_SOURCE } from '../figures/sources.ts';
import { unknownPoliciesReason } from '../figures/unknown-policies.ts';
import { printedHead, printedList } from '../http/answers/printed.ts';
import { NO_STEPS, printedSteps, stepsBetween } from '../http/answers/printed-steps.ts';
import { type TaggedBytes, taggedBytes, tagOf } from '../http/answers/tagged-bytes.ts';
import type { RouteReply } from '../http/route.ts';
import { bridgeIn, quoteTotalsIn } from '../latest/kinds/tallies/sums.ts';
import type { View } from '../latest/view.ts';
import { bridgePerVenue } from './bridge.ts';
import { type DayRow, datedRows, revenueByDay } from './revenue.ts';
import { protocolTotals } from './totals.ts';

/** `GET /analytics`, already printed. */
export function analytics(view: View, settings: ReadSettings): RouteReply {
  const totals = quoteTotalsIn(view);
  const bridge = bridgeIn(view);
  const quotes = quotesAt(
    view,
    settings,
    totals.map((row) => row.quote_mint),
  );
  const assets = view.rows('mint', [...new Set(bridge.flatMap((row) => row.asset_mints))]);
  const unlisted = unknownPoliciesReason(view);
  const head: Omit<AnalyticsResponse, 'revenueByDayTimeSeries'> = {
    protocolTotals: protocolTotals(totals, quotes, unlisted),
    protocolConfig: configView(view.single('config'), settings),
    bridgeFlow: { perVenue: bridgePerVenue(bridge, settings, assets, { state: view.state(), unlisted }) },
  };
  const body = Buffer.from(printedHead(head, 'revenueByDayTimeSeries'));
  return { status: 200, body, rest: revenue(view, settings) };
}

/** The list of days, and the end of the answer: a month is printed again when one of its days changes. */
function revenue(view: View, settings: ReadSettings): TaggedBytes[] {
  const months = view.part('revenue months', () => {
    const rows: DayRow[] = [...view.single('days'), ...datedRows(view.state())];
    return [...Map.groupBy(rows, ({ day }) => day.slice(0, 7))]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([month, own]) => ({ month, rows: own, tag: tagOf(JSON.stringify(own)) }));
  });
  if (months.length === 0) return [taggedBytes(printedList(''))];
  const pieces = months.map(({ month, rows, tag }, at) => {
    const printed = view.longPart(`revenue ${month} ${tag}`, NO_STEPS, () => {
      const mints = [...new Set(rows.map((row) => row.quote_mint))].filter((mint) => mint !== '');
      const quotes = new Map(mints.map((mint) => [mint, quoteNameAt(view, settings.launchpadVenueId, mint)]));
      return printedSteps(revenueByDay(rows, quotes, view.state()));
    });
    return stepsBetween(printed, 0, printed.ends.length, at === months.length - 1);
  });
  return [taggedBytes('[\n'), ...pieces, taggedBytes('\n  ]\n}\n')];
}

const UNKNOWN_CONFIG_SOURCE = `${CONFIG_SOURCE}, which is not known yet: the programs are those of LAUNCHPAD_PROGRAM_ID and AMM_PROGRAM_ID`;

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
    source: config === null ? UNKNOWN_CONFIG_SOURCE : CONFIG_SOURCE,
    asOf: timeOf(config?.block_time ?? null),
  };
}
