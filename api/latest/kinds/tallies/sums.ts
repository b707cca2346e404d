import type { BridgeRow } from '../../../../clickhouse/queries/analytics/bridge-flow.ts';
import type { QuoteTotalsRow } from '../../../../clickhouse/queries/analytics/totals.ts';
import type { BacklogRow } from '../../../../clickhouse/queries/status/status-counts.ts';
import type { View } from '../../view.ts';

/** Sums over all policies and venue accounts: from memory, or from ClickHouse where there are too many of them. */
export const quoteTotalsIn = (view: View): readonly QuoteTotalsRow[] =>
  view.single('policySums')?.totals ?? view.single('quoteTotals');

export const backlogIn = (view: View): BacklogRow =>
  view.single('policySums')?.backlog ?? view.single('backlog');

export const bridgeIn = (view: View): readonly BridgeRow[] =>
  view.single('venueSums')?.bridge ?? view.single('bridge');

export const attestationsIn = (view: View): readonly { asset_class: number; remote_asof: string }[] =>
  view.single('venueSums')?.attestations ?? view.single('attestations');
