import type { Store } from '../../clickhouse/client.ts';
import { keeperEventsBetween, lastActions } from '../../clickhouse/queries/events-between.ts';
import { feeBacklog } from '../../clickhouse/queries/status-counts.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { timeOf } from '../../schemas/units.ts';
import { BALANCE_SOURCE } from '../figures/balances.ts';
import { dayReason } from '../figures/missing.ts';
import { lastDay } from '../figures/times.ts';
import type { IndexState } from '../latest/index-state.ts';

/** What the permissionless instructions did of late; not the health of any one keeper. */
export async function keeper(
  store: Store,
  state: IndexState,
  now: number,
): Promise<StatusResponse['keeper']> {
  const { after, until } = lastDay(now);
  const [last, kinds, backlog] = await Promise.all([
    lastActions(store),
    keeperEventsBetween(store, after, until),
    backlogFigure(store, state),
  ]);
  const covered = dayReason(state, now) === null;
  return {
    lastActionAt: timeOf(last.keeper),
    last24h: kinds.map((row) => ({
      kind: row.kind,
      count: covered ? row.count : null,
      lastAt: timeOf(row.last_time),
    })),
    unroutedFeeBacklogPolicyCount: backlog,
    note: 'Permissionless activity by event kind, not the health of a particular keeper. The backlog counts policies whose quote escrow holds a balance, not fees unclaimed at the launch venue.',
  };
}

async function backlogFigure(store: Store, state: IndexState): Promise<Figure> {
  const row = await feeBacklog(store);
  if (row.unread > 0) {
    return absent(BALANCE_SOURCE, `${row.unread} of ${row.policies} quote escrows are not read yet`);
  }
  return figure(row.backlog, BALANCE_SOURCE, row.backlog === 0 ? state.markerTime : timeOf(row.oldest_time));
}
