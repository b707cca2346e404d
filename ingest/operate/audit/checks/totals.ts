import { type MintRange, mintRanges } from '../../../../clickhouse/queries/audit/ranges.ts';
import {
  type PartitionTotals,
  recomputedTotals,
  storedTotals,
} from '../../../../clickhouse/queries/audit/totals.ts';
import { unappliedOfMint } from '../../../../clickhouse/queries/audit/unapplied.ts';
import type { PolicySums } from '../../../../clickhouse/sum-columns.ts';
import type { AuditContext } from '../context.ts';
import { type AuditedSums, auditSums } from './sums.ts';

const MINTS_AT_ONCE = 200;

/** Recomputes policy_totals from the events, some mints at a time. */
export async function auditTotals(context: AuditContext): Promise<void> {
  const { store, signal } = context;
  const totals: AuditedSums<keyof PolicySums, PartitionTotals, MintRange> = {
    subject: 'policy totals',
    figures: {
      fees_quote: ['FeesClaimed.a'],
      fees_base: ['FeesClaimed.b'],
      claim_count: ['FeesClaimed.count'],
      last_claim: null,
      routed: ['Routed.a'],
      protocol_cut: ['Routed.b'],
      routed_to_lp: ['Routed.c'],
      routed_to_bankroll: ['Routed.d'],
      last_routed: null,
      profit: ['ProfitSwept.a'],
      profit_to_lp: ['ProfitSwept.b'],
      profit_to_holders: ['ProfitSwept.c'],
      last_swept: null,
      buyback_spent: ['BuybackBurned.a'],
      buyback_burned: ['BuybackBurned.b'],
      last_buyback: null,
      event_count: ['*.count'],
    },
    stored: (range) => storedTotals(store, range),
    recomputed: (range) => recomputedTotals(store, range),
    unapplied: ({ first }) => unappliedOfMint(store, first),
    groupOf: ({ mint }) => mint,
    rangeOf: (mint) => ({ first: mint, last: mint }),
    nameOf: ({ log_partition }) => String(log_partition),
    eventsOf: ({ mint, log_partition: partition }) => ({ of: 'mint', mint, partition, upTo: null }),
    told: ({ mint, log_partition: partition }, figure) => ({
      mint,
      figure: `policy_totals.${figure} of partition ${partition}`,
    }),
  };
  for await (const range of mintRanges(store, MINTS_AT_ONCE)) {
    if (signal.aborted) return;
    await auditSums(context, totals, range);
  }
}
