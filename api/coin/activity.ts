import type { EventRow } from '../../clickhouse/queries/activity/activity.ts';
import { shownSummary } from '../../schemas/program/stored-summary.ts';
import type { ActivityItem, ActivityResponse } from '../../schemas/responses/coin/activity.ts';
import { timeOf } from '../../schemas/units.ts';
import { pageOf } from '../http/paging.ts';
import { isBusy } from '../latest/cells/busy.ts';
import { pageKey } from '../latest/kinds/kind.ts';
import type { Coin } from './find.ts';

/** `GET /coins/:mint/activity`, newest first. */
export function activity({ mint, view, query }: Coin): ActivityResponse {
  const { limit, offset } = pageOf(query, { fallback: 50, max: 200 });
  const isMany = isBusy(view.get('totals', mint));
  const rows = view.get('activity', pageKey(mint, String(isMany), limit, offset));
  return {
    mint,
    limit,
    offset,
    items: rows.map(itemOf),
  };
}

/** An event as it is served. */
export function itemOf(row: EventRow): ActivityItem {
  return {
    kind: row.kind,
    actor: row.actor,
    summary: shownSummary(row.summary),
    slot: row.slot,
    signature: row.signature,
    block_time: timeOf(row.block_time),
    ...(row.derived === 1 ? { derived: true as const } : {}),
  };
}
