import type { Store } from '../../clickhouse/client.ts';
import { quoteTotals } from '../../clickhouse/queries/analytics-totals.ts';
import { bridgeFlow } from '../../clickhouse/queries/bridge-flow.ts';
import { daySeries } from '../../clickhouse/queries/day-series.ts';
import { mintsAt } from '../../clickhouse/queries/mints.ts';
import { type ProtocolConfigRow, protocolConfig } from '../../clickhouse/queries/protocol-config.ts';
import type { AnalyticsResponse, ProtocolConfigView } from '../../schemas/responses/analytics.ts';
import { timeOf } from '../../schemas/units.ts';
import { loadQuotes } from '../figures/quotes.ts';
import { CONFIG_SOURCE } from '../figures/sources.ts';
import type { IndexState } from '../latest/index-state.ts';
import type { ReadDeps, ReadSettings } from '../latest/read-deps.ts';
import { bridgePerVenue } from './bridge.ts';
import { revenueByDay } from './revenue.ts';
import { protocolTotals } from './totals.ts';

/** `GET /analytics` */
export async function analytics(deps: ReadDeps, now: number): Promise<AnalyticsResponse> {
  const store = deps.currentStore();
  return deps.index.readAsOne(store, (state) => analyticsIn(state, store, deps, now));
}

async function analyticsIn(
  state: IndexState,
  store: Store,
  deps: ReadDeps,
  now: number,
): Promise<AnalyticsResponse> {
  const [config, totals, bridge, days] = await Promise.all([
    protocolConfig(store),
    quoteTotals(store),
    bridgeFlow(store),
    daySeries(store),
  ]);
  const quoteMints = [...totals, ...days].map((row) => row.quote_mint).filter((mint) => mint !== '');
  const [quotes, assets] = await Promise.all([
    loadQuotes(store, deps.settings.launchpadVenueId, [...new Set(quoteMints)], now),
    mintsAt(store, [...new Set(bridge.flatMap((row) => row.asset_mints))]),
  ]);
  return {
    protocolTotals: protocolTotals(totals, quotes),
    protocolConfig: configView(config, deps.settings),
    bridgeFlow: { perVenue: bridgePerVenue(bridge, deps.settings, assets, state) },
    revenueByDayTimeSeries: revenueByDay(days, quotes, state),
  };
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
