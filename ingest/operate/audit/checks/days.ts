import {
  allDays,
  type DayRange,
  type PartitionDay,
  recomputedDays,
  storedDays,
} from '../../../../clickhouse/queries/audit/days.ts';
import { unappliedOfDays } from '../../../../clickhouse/queries/audit/unapplied.ts';
import type { QuoteSums } from '../../../../clickhouse/sum-columns.ts';
import { DAY_S } from '../../../../schemas/units.ts';
import type { AuditContext } from '../context.ts';
import { type AuditedSums, auditSums } from './sums.ts';

const DAYS_AT_ONCE = 16;

/** Recomputes quote_days from the events, some days at a time. */
export async function auditDays(context: AuditContext): Promise<void> {
  const { store, signal } = context;
  const days: AuditedSums<keyof QuoteSums, PartitionDay, DayRange> = {
    subject: 'days',
    figures: {
      routed_to_lp: ['Routed.c'],
      routed_to_bankroll: ['Routed.d'],
      protocol_cut: ['Routed.b'],
      profit: ['ProfitSwept.a'],
      buyback_spent: ['BuybackBurned.a'],
      event_count: ['*.count'],
      last_event: null,
    },
    stored: (range) => storedDays(store, range),
    recomputed: (range) => recomputedDays(store, range),
    unapplied: (range) => unappliedOfDays(store, range),
    groupOf: ({ day }) => day,
    rangeOf: rangeOfDay,
    nameOf: ({ quote_mint, log_partition }) => `${quote_mint}/${log_partition}`,
    eventsOf: ({ day, quote_mint: quoteMint, log_partition: partition }) => ({
      ...{ of: 'day', quoteMint, partition },
      ...rangeOfDay(day),
    }),
    told: ({ day, quote_mint: quoteMint, log_partition: partition }, figure) => ({
      mint: null,
      figure: `quote_days.${figure} of ${day}, quote ${quoteMint || 'none'}, partition ${partition}`,
    }),
  };
  const all = await allDays(store);
  if (all === null) return;
  for (let from = all.from; from < all.to && !signal.aborted; from += DAYS_AT_ONCE * DAY_S)
    await auditSums(context, days, { from, to: Math.min(all.to, from + DAYS_AT_ONCE * DAY_S) });
}

function rangeOfDay(day: string): DayRange {
  const from = Date.parse(`${day}T00:00:00Z`) / 1000;
  return { from, to: from + DAY_S };
}
