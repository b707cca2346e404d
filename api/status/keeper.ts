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

type KeeperKind = StatusResponse['keeper']['last24h'][number];

/** What the permissionless instructions did of late; not the health of any one keeper. */
export function keeper(view: View): StatusResponse['keeper'] {
  const last = view.single('lastActions');
  const kinds = view.single('keeperOfDay');
  const reason = dayReason(view);
  const undated = (kind: string) => undatedLately(view, (event) => event.kind === kind);
  return {
    lastActionAt: timeOf(last.keeper),
    last24h: [
      ...kinds.map(({ kind, count, last_time }) =>
        counted(kind, count, timeOf(last_time), reason ?? undated(kind)),
      ),
      // Kinds of which only events without a known time may lie in the 24 hours.
      ...KEEPER_KINDS.filter((kind) => kinds.every((row) => row.kind !== kind))
        .map((kind) => ({ kind, why: undated(kind) }))
        .filter(({ why }) => why !== null)
        .map(({ kind, why }) => counted(kind, null, null, reason ?? why)),
    ].toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
    unroutedFeeBacklogPolicyCount: backlogFigure(view),
    note: 'Permissionless activity by event kind, not the health of a particular keeper. The backlog counts policies whose quote escrow holds a balance, not fees unclaimed at the launch venue.',
  };
}

/** @param why the reason why the count is not known; null where it is. */
const counted = (
  kind: string,
  count: number | null,
  lastAt: string | null,
  why: string | null,
): KeeperKind =>
  why === null ? { kind, count, lastAt } : { kind, count: null, lastAt, countAbsentReason: why };

function backlogFigure(view: View): Figure {
  const unlisted = unknownPoliciesReason(view);
  if (unlisted !== null) return absent(BALANCE_SOURCE, unlisted);
  const row = backlogIn(view);
  if (row.unread > 0) {
    return absent(BALANCE_SOURCE, `${row.unread} of ${row.policies} quote escrows are not read yet`);
  }
  // The marker moves on without followed addresses, so it dates only a count over no policies.
  return figure(
    row.backlog,
    BALANCE_SOURCE,
    row.policies === 0 ? view.state().markerTime : timeOf(row.oldest_time),
  );
}
