import { absent, type Figure, figure } from '../../schemas/figure.ts';
import { EVENT_KINDS, type EventKind } from '../../schemas/program/event-kinds.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { timeOf } from '../../schemas/units.ts';
import { BALANCE_SOURCE } from '../figures/balances.ts';
import { dayReason } from '../figures/missing.ts';
import { undatedLately } from '../figures/undated.ts';
import { unknownPoliciesReason } from '../figures/unknown-policies.ts';
import { backlogIn } from '../latest/kinds/tallies/sums.ts';
import type { View } from '../latest/view.ts';

const KEEPER_KINDS = (Object.keys(EVENT_KINDS) as EventKind[]).filter(
  (kind) => EVENT_KINDS[kind].actor === 'keeper',
);

/** What the permissionless instructions did of late; not the health of any one keeper. */
export function keeper(view: View): StatusResponse['keeper'] {
  const last = view.one('lastActions');
  const kinds = view.one('keeperOfDay');
  const reason = dayReason(view);
  const isUndated = (kind: string) => undatedLately(view, (event) => event.kind === kind) !== null;
  return {
    lastActionAt: timeOf(last.keeper),
    last24h: [
      ...kinds.map(({ kind, count, last_time }) => ({
        kind,
        count: reason === null && !isUndated(kind) ? count : null,
        lastAt: timeOf(last_time),
      })),
      // Known, and of no time that is.
      ...KEEPER_KINDS.filter((kind) => kinds.every((row) => row.kind !== kind) && isUndated(kind)).map(
        (kind) => ({ kind, count: null, lastAt: null }),
      ),
    ].toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
    unroutedFeeBacklogPolicyCount: backlogFigure(view),
    note: 'Permissionless activity by event kind, not the health of a particular keeper. The backlog counts policies whose quote escrow holds a balance, not fees unclaimed at the launch venue.',
  };
}

function backlogFigure(view: View): Figure {
  const unlisted = unknownPoliciesReason(view);
  if (unlisted !== null) return absent(BALANCE_SOURCE, unlisted);
  const row = backlogIn(view);
  if (row.unread > 0) {
    return absent(BALANCE_SOURCE, `${row.unread} of ${row.policies} quote escrows are not read yet`);
  }
  return figure(
    row.backlog,
    BALANCE_SOURCE,
    row.backlog === 0 ? view.state().markerTime : timeOf(row.oldest_time),
  );
}
