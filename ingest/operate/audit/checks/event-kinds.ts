import {
  allRuns,
  type KindRun,
  type RunRange,
  recountedKinds,
  storedKinds,
  unappliedOfRuns,
} from '../../../../clickhouse/queries/audit/kinds.ts';
import type { AuditContext } from '../context.ts';
import { type AuditedSums, auditSums } from './sums.ts';

const RUNS_AT_ONCE = 4_096;

/** Counts the events of each kind again, some days of slots at a time. */
export async function auditEventKinds(context: AuditContext): Promise<void> {
  const { store, signal } = context;
  const kinds: AuditedSums<'event_count' | 'first_event' | 'last_event', KindRun, RunRange> = {
    subject: 'event kinds',
    figures: { event_count: ['*.count'], first_event: null, last_event: null },
    stored: (range) => storedKinds(store, range),
    recomputed: (range) => recountedKinds(store, range),
    unapplied: (range) => unappliedOfRuns(store, range),
    groupOf: ({ span }) => span,
    rangeOf: (span) => ({ from: Number(span), to: Number(span) + 1 }),
    nameOf: ({ kind, actor, log_partition }) => `${kind}/${actor}/${log_partition}`,
    eventsOf: ({ span, kind, actor, log_partition: partition }) => ({
      ...{ of: 'run', run: span, kind, actor, partition },
    }),
    told: ({ span, kind, log_partition: partition }, figure) => ({
      mint: null,
      figure: `kind_spans.${figure} of ${kind}, slots from ${BigInt(span) * 512n}, partition ${partition}`,
    }),
  };
  const all = await allRuns(store);
  if (all === null) return;
  for (let from = all.from; from < all.to && !signal.aborted; from += RUNS_AT_ONCE)
    await auditSums(context, kinds, { from, to: Math.min(all.to, from + RUNS_AT_ONCE) });
}
