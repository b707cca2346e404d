import { MANY_EVENTS } from '../../../clickhouse/queries/activity/activity.ts';
import type { PolicyTotalsRow } from '../../../clickhouse/queries/analytics/policy-totals.ts';

/**
 * Whether a mint has so many events that another query is used for it; a wrong guess only costs time.
 * @param totals of the mint, as far as they are known
 */
export const isBusy = (totals: PolicyTotalsRow | null | undefined): boolean =>
  BigInt(totals?.event_count ?? 0) > MANY_EVENTS;
